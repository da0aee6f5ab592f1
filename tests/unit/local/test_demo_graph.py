"""The data of the demo graph, without a server."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime
from statistics import correlation, mean

import pytest

from mcp_neo4j_vector_graphrag.local import demo_graph
from mcp_neo4j_vector_graphrag.local.demo_graph import Movie, graph_digest, read_graph

GRAPH = read_graph()
MOVIES = {movie.title: movie for movie in GRAPH.movies}

PROMISED = [
    ("The Matrix", 1999),
    ("Inception", 2010),
    ("Toy Story", 1995),
    ("Jaws", 1975),
    ("Titanic", 1997),
    ("Jurassic Park", 1993),
    ("The Godfather", 1972),
    ("Alien", 1979),
    ("Back to the Future", 1985),
    ("Groundhog Day", 1993),
    ("Finding Nemo", 2003),
    ("Ratatouille", 2007),
    ("WALL-E", 2008),
    ("Up", 2009),
    ("The Shawshank Redemption", 1994),
    ("Forrest Gump", 1994),
    ("Gladiator", 2000),
    ("The Silence of the Lambs", 1991),
    ("Parasite", 2019),
    ("Train to Busan", 2016),
    ("Oldboy", 2003),
    ("Spirited Away", 2001),
    ("My Neighbor Totoro", 1988),
    ("Princess Mononoke", 1997),
    ("Seven Samurai", 1954),
    ("Rashomon", 1950),
    ("Amelie", 2001),
    ("The Lives of Others", 2006),
    ("Run Lola Run", 1998),
    ("Das Boot", 1981),
    ("Good Bye, Lenin!", 2003),
    ("Life Is Beautiful", 1997),
    ("Pan's Labyrinth", 2006),
    ("Coco", 2017),
    ("City of God", 2002),
    ("The Social Network", 2010),
    ("The Martian", 2015),
    ("Gravity", 2013),
    ("Interstellar", 2014),
    ("Arrival", 2016),
    ("Blade Runner", 1982),
    ("Her", 2013),
    ("Eternal Sunshine of the Spotless Mind", 2004),
    ("Memento", 2000),
    ("Fight Club", 1999),
    ("Se7en", 1995),
    ("The Usual Suspects", 1995),
    ("Ocean's Eleven", 2001),
    ("Catch Me If You Can", 2002),
    ("The Sixth Sense", 1999),
    ("The Shining", 1980),
    ("Psycho", 1960),
    ("Whiplash", 2014),
    ("La La Land", 2016),
    ("Black Swan", 2010),
    ("Billy Elliot", 2000),
    ("Rocky", 1976),
    ("Schindler's List", 1993),
    ("Mad Max: Fury Road", 2015),
    ("The Truman Show", 1998),
]

GENRES = {
    *("Action", "Adventure", "Animation", "Biography", "Comedy", "Crime", "Documentary", "Drama", "Family", "Fantasy"),
    *("History", "Horror", "Music", "Musical", "Mystery", "Romance", "Sci-Fi", "Sport", "Thriller", "War", "Western"),
}


def roles(title: str) -> dict[str, str]:
    return {part.name: part.role for part in MOVIES[title].cast}


@pytest.mark.parametrize(("title", "year"), PROMISED)
def test_every_promised_film_is_in(title, year):
    assert year == MOVIES[title].year


def test_there_are_enough_films_of_every_kind():
    assert len(GRAPH.movies) >= 125
    assert {year // 10 * 10 for year in (movie.year for movie in GRAPH.movies)} == set(range(1930, 2030, 10))
    assert len({country for movie in GRAPH.movies for country in movie.countries}) >= 20
    assert len({language for movie in GRAPH.movies for language in movie.languages}) >= 20
    assert {genre for movie in GRAPH.movies for genre in movie.genres} == GENRES


def test_ids_and_titles_are_unique():
    assert len(GRAPH.movies) == len({movie.id for movie in GRAPH.movies})
    assert len(GRAPH.movies) == len({(movie.title, movie.year) for movie in GRAPH.movies})


@pytest.mark.parametrize("movie", GRAPH.movies, ids=lambda movie: movie.title)
class TestEveryFilm:
    def test_has_no_empty_field(self, movie: Movie):
        assert all(vars(movie).values())
        assert all(part.name.strip() and part.role.strip() for part in movie.cast)

    def test_has_plausible_figures(self, movie: Movie):
        assert movie.year == movie.released.year
        assert 60 <= movie.runtime <= 240
        assert 7.0 <= movie.imdb_rating <= 9.5
        assert movie.imdb_rating == round(movie.imdb_rating, 1)

    def test_names_nobody_and_nothing_twice(self, movie: Movie):
        for values in (movie.countries, movie.languages, movie.genres, movie.directors):
            assert len(values) == len(set(values))
        assert len(movie.cast) == len({part.name for part in movie.cast})

    def test_has_its_leads(self, movie: Movie):
        least = 1 if "Documentary" in movie.genres else 3
        assert least <= len(movie.cast) <= 5

    def test_is_told_in_two_or_three_sentences(self, movie: Movie):
        assert len(re.findall(r"[.!?](?= |$)", movie.plot)) in {2, 3}
        assert movie.plot == " ".join(movie.plot.split())
        assert 120 <= len(movie.plot) <= 400


def test_people_are_shared_between_films():
    for director, films in {
        "Christopher Nolan": {"Memento", "The Dark Knight", "Inception", "Interstellar", "Oppenheimer"},
        "Bong Joon-ho": {"Memories of Murder", "Snowpiercer", "Parasite"},
        "Hayao Miyazaki": {"My Neighbor Totoro", "Princess Mononoke", "Spirited Away"},
    }.items():
        assert films == {movie.title for movie in GRAPH.movies if director in movie.directors}
    assert {"Forrest Gump", "Toy Story", "Apollo 13", "Catch Me If You Can"} == {
        title for title in MOVIES if "Tom Hanks" in roles(title)
    }


def test_inception():
    movie = MOVIES["Inception"]
    assert movie.directors == ("Christopher Nolan",)
    assert (2010, 148, date(2010, 7, 16)) == (movie.year, movie.runtime, movie.released)
    assert roles("Inception")["Leonardo DiCaprio"] == "Cobb"


def test_jaws():
    movie = MOVIES["Jaws"]
    assert movie.directors == ("Steven Spielberg",)
    assert (1975, 124, date(1975, 6, 20)) == (movie.year, movie.runtime, movie.released)
    assert roles("Jaws")["Robert Shaw"] == "Quint"


def test_seven_samurai():
    movie = MOVIES["Seven Samurai"]
    assert movie.directors == ("Akira Kurosawa",)
    assert (movie.countries, movie.languages, movie.runtime) == (("Japan",), ("Japanese",), 207)
    assert roles("Seven Samurai")["Toshirō Mifune"] == "Kikuchiyo"


def test_the_lives_of_others():
    movie = MOVIES["The Lives of Others"]
    assert movie.directors == ("Florian Henckel von Donnersmarck",)
    assert (movie.countries, movie.languages, movie.runtime) == (("Germany",), ("German",), 137)
    assert roles("The Lives of Others")["Ulrich Mühe"] == "Gerd Wiesler"


def test_ratings_are_of_existing_films_and_in_range():
    released = {movie.id: movie.released for movie in GRAPH.movies}
    for rating in GRAPH.ratings:
        assert rating.rating in {step / 2 for step in range(1, 11)}
        assert released[rating.movie] < datetime.fromtimestamp(rating.timestamp, UTC).date() < date(2025, 1, 1)


def test_300_users_rate_5_to_25_films_each_and_none_twice():
    films = {user: [rating.movie for rating in GRAPH.ratings if rating.user == user] for user in range(1, 301)}
    assert len(GRAPH.ratings) == sum(len(rated) for rated in films.values())
    for rated in films.values():
        assert 5 <= len(rated) <= 25
        assert len(rated) == len(set(rated))


def test_averages_loosely_follow_the_imdb_rating():
    averages = [mean(rating.rating for rating in GRAPH.ratings if rating.movie == movie.id) for movie in GRAPH.movies]
    assert correlation(averages, [movie.imdb_rating for movie in GRAPH.movies]) > 0.5


def test_the_digest_depends_on_the_model_and_on_the_data(monkeypatch, tmp_path):
    digest = graph_digest("one")
    assert digest == graph_digest("one")
    assert digest != graph_digest("another")
    changed = tmp_path / "ratings.csv"
    changed.write_text("user,movie,rating,timestamp\n1,1,5.0,0\n", encoding="utf-8")
    monkeypatch.setattr(demo_graph, "_RATINGS_FILE", changed)
    assert digest != graph_digest("one")
