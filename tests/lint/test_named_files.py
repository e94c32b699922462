"""Files that comments and documents name exist, and links of documents lead somewhere.

Here:      comments of C++, comments and docstrings of Python, Markdown.
Not here:  names in strings and in blocks of code, which may be anybody's.
"""

import ast
import functools
import pathlib
import re
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
ENDS = r"(?:h|cpp|td|mlir|cu|ptx|md|ipynb|sh|cmake|py|pyi|json|txt|toml)"
PATH = re.compile(rf"(?<![\w/.<~*$-])((?:[\w*-]+/)+[\w*.-]*\.{ENDS})\b(?![/*])")
"""A name with a folder; `*` stands for anything."""
NAME = re.compile(r"(?<![\w/.*-])([A-Z]\w+\.(?:h|cpp|td)|[a-z_]\w*\.py)\b")
"""A name alone: of C++ anywhere in a comment, of Python in the lines that say where things are."""
PLACES = re.compile(r"^(?:Here|Not here|Read next):.*(?:\n {4,}.*)*", re.MULTILINE)
COMMENT = re.compile(r"(?:^|  )#\s+(.*)$", re.MULTILINE)
LINK = re.compile(r"\]\(([^)\s]+)\)")
FENCE = re.compile(r"^ *(```+).*?^ *\1\s*$", re.DOTALL | re.MULTILINE)
OTHERS = {
    "cuda.h", "Python.h", "CMakeLists.txt", "kernel.py", "script.py", "your_script.py", "test_it.py", "kernels.py",
}  # fmt: skip
"""Of other projects, of users, or made by a build."""
FOLDERS = (
    "record/",
    "source/",
    "FOLDER/",
    "campaign/",
    "dist/",
    "build/",
    "mlir/",
    "llvm/",
    "tbb/",
    "triton/",
    "torch/",
    "share/",
    "x/",
)
"""Folders that are not ours, or that a run makes."""


@functools.cache
def tracked():
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True)
    return [name for name in listed.stdout.splitlines() if (ROOT / name).is_file()]


@functools.cache
def known():
    """Every way to write a file's name: its whole path, and what is left of it without folders in front."""
    ways = set()
    for name in tracked():
        parts = name.split("/")
        ways.update("/".join(parts[i:]) for i in range(len(parts)))
    return ways


def exists(name):
    name = name.removeprefix("./")
    if "*" in name:
        pattern = re.compile("(?:.*/)?" + re.escape(name).replace(r"\*", "[^/]*"))
        return any(pattern.fullmatch(each) for each in tracked())
    return name in known()


def comments_of_cpp(text):
    return "\n".join(line.partition("//")[2] for line in text.splitlines() if "//" in line)


def comments_of_python(text):
    parts = COMMENT.findall(text)
    bodies = [ast.parse(text)]
    while bodies:  # statements only: expressions hold no docstrings
        node = bodies.pop()
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            parts.append(ast.get_docstring(node) or "")
        bodies += [
            each
            for part in ("body", "orelse", "handlers")
            for each in getattr(node, part, ())
            if isinstance(each, ast.AST)
        ]
    return "\n".join(parts)


def named_in(name, text):
    """Names of files that a file's comments, or a document's text, hold."""
    if name.endswith((".h", ".cpp", ".td")):
        said = comments_of_cpp(text)
        alone = NAME.findall(said)
        alone = [word for word in alone if not word.endswith(".py")]
    elif name.endswith(".py"):
        said = comments_of_python(text)
        alone = [word for place in PLACES.findall(said) for word in NAME.findall(place)]
    else:
        said = re.sub(r"^( {4}|\t).*$", "", FENCE.sub("", text), flags=re.MULTILINE)
        alone = [word for word in NAME.findall(said) if not word.endswith(".py")]
    paths = [path for path in PATH.findall(said) if not path.startswith(FOLDERS)]
    return {*paths, *alone} - OTHERS


def sources():
    return [
        name
        for name in tracked()
        if name.endswith((".h", ".cpp", ".td", ".py", ".md"))
        and not name.startswith(("tests/data/", "benchmarks/results/"))
        and name != "tests/lint/test_named_files.py"
    ]


def test_files_that_comments_and_documents_name_exist():
    missing = {}
    for name in sources():
        gone = sorted(word for word in named_in(name, (ROOT / name).read_text()) if not exists(word))
        if gone:
            missing[name] = gone
    assert not missing, "\n".join(f"{name}: {', '.join(gone)}" for name, gone in missing.items())


def slug(heading):
    """The anchor of a heading, as GitHub and the site make it."""
    heading = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading)
    return re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", heading.replace("`", "")).strip().lower())


@functools.cache
def anchors(path):
    return {slug(line) for line in re.findall(r"^#+ (.*)$", FENCE.sub("", path.read_text()), re.MULTILINE)}


def made_by_the_site():
    """Pictures that `make docs` makes: their names stand in its scripts."""
    text = "".join(path.read_text() for path in (ROOT / "docs" / "tools").glob("*.py"))
    return set(re.findall(r'"([\w-]+\.(?:svg|png))"', text))


@pytest.mark.parametrize("name", [name for name in tracked() if name.endswith(".md") and "tests/data" not in name])
def test_links_lead_somewhere(name):
    path = ROOT / name
    wrong = []
    for link in LINK.findall(re.sub(r"`[^`\n]*`", "", FENCE.sub("", path.read_text()))):
        if re.match(r"\w+:", link) or "..." in link:
            continue
        where, _, anchor = link.partition("#")
        target = (path.parent / where).resolve() if where else path
        if target.parent == ROOT / "docs" / "pictures" and target.name in made_by_the_site():
            continue
        if not target.exists() or (anchor and target.suffix == ".md" and anchor not in anchors(target)):
            wrong.append(link)
    assert not wrong, wrong


@pytest.mark.parametrize(
    ("name", "text", "found"),
    [
        ("a.cpp", "int x; // see run/Gone.h", {"run/Gone.h"}),
        ("a.h", '#include "run/Gone.h"', set()),
        ("a.cpp", "// Not here: Gone.cpp", {"Gone.cpp"}),
        ("a.py", '"""Does it.\n\nNot here:  the rest (gone.py).\n"""', {"gone.py"}),
        ("a.py", 'x = "tests/gone.py"  # as tests/gone_too.py', {"tests/gone_too.py"}),
        ("a.md", "See `docs/gone.md`.\n```\ndocs/other.md\n```\n", {"docs/gone.md"}),
    ],
)
def test_a_file_that_is_gone_is_noticed(name, text, found):
    assert named_in(name, text) == found and not any(map(exists, found))
