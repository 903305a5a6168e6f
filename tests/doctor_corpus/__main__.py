"""`python -m tests.doctor_corpus`: the doctor's score on the recorded clusters, as a table."""

import sys

from tests.doctor_corpus.cases import scores


def main() -> int:
    """Print a line for each cluster; returns 1 if the doctor is wrong about one."""
    found = list(scores())
    for score in found:
        state = "mended" if score.mended else "broken"
        said = ", ".join(score.told) or "nothing"
        verdict = f"WRONG ({score.wrong})" if score.wrong else "right"
        print(f"{score.stack:9} {state:7} {score.case:56} {said:44} {verdict}")
    for mended, name in ((False, "broken"), (True, "mended")):
        of_kind = [score for score in found if score.mended is mended]
        right = sum(not score.wrong for score in of_kind)
        print(f"{name}: {right} of {len(of_kind)} told as they should be")
    return int(any(score.wrong for score in found))


if __name__ == "__main__":
    sys.exit(main())
