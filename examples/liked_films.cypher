OPTIONAL MATCH (node)<-[rated:RATED]-(:User)
WITH node, score, count(rated) AS ratings, count(CASE WHEN rated.rating >= $min_rating THEN 1 END) AS likes
RETURN node.title + ' (' + node.year + '): ' + node.plot AS text,
       {likes: likes, ratings: ratings, runtime: node.runtime} AS metadata,
       score
