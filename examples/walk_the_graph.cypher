RETURN node.title + ' (' + node.year + '): ' + node.plot AS text,
       {
         directors: [(node)<-[:DIRECTED]-(person) | person.name],
         cast: [(node)<-[played:ACTED_IN]-(person) | person.name + coalesce(' as ' + played.role, '')],
         genres: [(node)-[:IN_GENRE]->(genre) | genre.name]
       } AS metadata,
       score
