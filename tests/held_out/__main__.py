"""Print the score: `python -m tests.held_out`."""

from collections import Counter

from tests.held_out.answers import FILES, answers

if __name__ == "__main__":
    found = list(answers())
    for answer in found:
        if answer.verdict != "right":
            print(f"{answer.verdict:8}{answer.file}: {str(answer.case.get('words') or answer.case['source'])[:90]}")
            print(f"        wanted: {answer.case['says']}; said: {answer.said[:110]}")
    for file in FILES:
        for changed in (False, True):
            of = Counter(each.verdict for each in found if each.file == file and ("changed" in each.case) is changed)
            if of:
                apart = ", by which the catalogue was changed" if changed else ""
                print(f"{file}{apart}: {of['right']} right, {of['unknown']} unknown, {of['wrong']} wrong")
