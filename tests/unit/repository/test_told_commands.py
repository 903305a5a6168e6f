"""Every command in a page or a message for people is real: its program knows its words."""

import argparse
import importlib.util
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

from aks_infiniband_cli.main import command_parser, kubectl_parser

from rehearsal.cli.options import parser
from tests.told_commands import ROOT, Told, of_messages, of_pages

EVERY = [*of_pages(), *of_messages()]
NO_COMMANDS = {"make a page of what the validations measured", "pulumi x failed"}
"""Strings that begin with a program's name."""
PLUGIN = "infiniband"


def of(*programs: str) -> list[Told]:
    found = [told for told in EVERY if told.words[0] in programs and " ".join(told.words) not in NO_COMMANDS]
    assert found
    return found


def test_every_target_of_make_and_every_variable_is_in_the_makefile() -> None:
    text = (ROOT / "Makefile").read_text()
    targets = set(re.findall(r"^([a-z-]+):", text, flags=re.MULTILINE))
    variables = set(re.findall(r"\$\((?:origin )?([A-Z]+)\)", text))
    for told in of("make"):
        for word in told.words[1:]:
            name, given, _ = word.partition("=")
            assert name in (variables if given else targets), told


def test_every_command_of_aks_infiniband_is_one_with_flags_that_it_has() -> None:
    for told in of("aks-infiniband"):
        if told.words[1].rstrip(":") != "x":  # the name of a command
            hold(told, command_parser(), told.words[1:])


def test_every_command_of_kubectl_infiniband_is_one_with_flags_that_it_has() -> None:
    plugin = [told for told in of("kubectl") if told.words[1] == PLUGIN and len(told.words) > 2]
    assert plugin
    for told in plugin:
        hold(told, kubectl_parser(), told.words[2:])


def hold(told: Told, front: argparse.ArgumentParser, words: Sequence[str]) -> None:
    """Hold a command and its flags against the parser of its front door. words: what follows the program."""
    [commands] = [a for a in front._actions if isinstance(a, argparse._SubParsersAction)]
    assert words[0] in commands.choices, told
    parser = commands.choices[words[0]]
    known = {name for action in parser._actions for name in action.option_strings}
    assert {word for word in words if word.startswith("-") and word != "-"} <= known, told
    if told.copied and "--help" not in words:
        parser.parse_args(words[1:])


def test_every_module_that_python_is_to_run_is_there() -> None:
    for told in of("python", ".venv/bin/python"):
        module = told.words[told.words.index("-m") + 1]
        assert importlib.util.find_spec(module) is not None, told
        files = [word for word in told.words if word.endswith(".py")]
        assert [file for file in files if not (ROOT / file).exists()] == [], told


def test_the_rehearsals_command_takes_every_line_that_people_copy() -> None:
    for told in of("rehearsal"):
        parser().parse_args(told.words[1:])


def test_kubectl_knows_every_verb_and_flag() -> None:
    kubectl = Path(sys.executable).with_name("kubectl")
    flags: dict[str, set[str]] = defaultdict(set)
    for told in of("kubectl"):
        words = list(told.words[1:])
        while words and words[0] in {"-n", "--namespace"}:
            flags["options"].add(words.pop(0))
            words = words[1:]
        if words and words[0] not in {PLUGIN, "xdescribe"}:  # a line that begins with the flags of the message itself
            verb = " ".join(words[:2]) if words[0] == "create" else words[0]
            flags[verb] |= {word.partition("=")[0] for word in words if re.match(r"--?[a-z]", word)}
    assert {"get", "describe", "logs", "options"} <= set(flags)
    everywhere = known_to(kubectl, "options")
    for verb, used in flags.items():
        assert used <= everywhere | known_to(kubectl, *verb.split()), verb


def known_to(kubectl: Path, *verb: str) -> set[str]:
    """The flags that kubectl lists for a verb."""
    command = [str(kubectl), *verb, *([] if verb == ("options",) else ["--help"])]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert verb == ("options",) or f"kubectl {' '.join(verb)}" in said, verb
    pairs = re.findall(r"(?:^ +(-\w), )?(--[\w-]+)=", said, flags=re.MULTILINE)
    return {flag for pair in pairs for flag in pair if flag}


def test_what_people_copy_has_no_word_that_they_must_replace() -> None:
    placeholder = re.compile(r"(?:^|[ /=])[A-Z]{3,}(?:_[A-Z]+)*(?=$|[ /-])")
    assert [told for told in EVERY if told.copied and placeholder.search(" ".join(told.words))] == []
