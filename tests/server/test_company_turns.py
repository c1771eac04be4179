"""Companies take turns, if a job cannot look at all of them in one run."""

from wmsd.server.company_turns import CompanyTurns


def test_the_company_whose_turn_is_longest_ago_comes_first() -> None:
    turns = CompanyTurns()
    assert turns.first({3, 1, 2}, 2) == [1, 2]
    for company_id in (1, 2):
        turns.note(company_id)
    assert turns.first({3, 1, 2}, 2) == [3, 1]
    turns.note(3)
    turns.note(1)
    assert turns.first({3, 1, 2}, 3) == [2, 3, 1]
