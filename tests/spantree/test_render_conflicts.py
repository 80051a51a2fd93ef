"""Conflicts on the page of an answer: every side has its value and its sources."""

from programs.answer import Conflict
from tests.spantree.render_desk import cited, made, printed, said


def test_conflicts_stand_side_by_side() -> None:
    march = cited("minutes-2.md", 14, "Decision: we ship on 15 March.")
    april = cited("minutes-5.md", 9, "Decision: we ship on 1 April.")
    answer = made(
        claims=(
            said("c1", "The release is on 15 March.", march, status="conflicting"),
            said("c2", "The release is on 1 April.", april, status="conflicting"),
        ),
        conflicts=(
            Conflict(topic="release date", claim_ids=("c1", "c2"), values=("15 March", "1 April")),
        ),
    )
    assert """\
  - The release is on 15 March. (conflicting) [1]
  - The release is on 1 April. (conflicting) [2]
""" in printed(answer)
    assert """
Conflicts
  - release date
    15 March                               1 April
    [1] minutes-2.md:14                    [2] minutes-5.md:9
""" in printed(answer)


def test_a_side_whose_value_is_not_in_the_words_of_the_text_still_has_its_place() -> None:
    sides = (cited("2.md", 28, "发布窗口定为每周二"), cited("3.md", 23, "发布窗口定为每周四"))
    answer = made(
        claims=(said("c1", "发布窗口自相矛盾。", *sides, status="conflicting"),),
        conflicts=(Conflict(topic="发布窗口", claim_ids=("c1",), values=("tuesday", "thursday")),),
    )
    assert """
    tuesday                                thursday
    [1] 2.md:28                            [2] 3.md:23
""" in printed(answer)


def test_more_than_three_sides_of_a_conflict_stand_below_each_other() -> None:
    sides = [cited(f"{n}.md", n, f"budget: {n} EUR") for n in range(1, 5)]
    answer = made(
        claims=(said("c1", "The budget differs.", *sides, status="conflicting"),),
        conflicts=(
            Conflict(
                topic="budget", claim_ids=("c1",), values=tuple(f"{n} EUR" for n in range(1, 5))
            ),
        ),
    )
    assert """
Conflicts
  - budget
    * 1 EUR  [1] 1.md:1
    * 2 EUR  [2] 2.md:2
    * 3 EUR  [3] 3.md:3
    * 4 EUR  [4] 4.md:4
""" in printed(answer)
