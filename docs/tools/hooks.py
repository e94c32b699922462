"""What mkdocs does for this site besides its own: files of the repository become pages.

Pages of docs/ link to files outside of it (../demo/broken/softmax.py), which GitHub shows. Here each such file becomes
a page below source/, and the links lead there. CONTRIBUTING.md becomes contributing.md.

Here:      mkdocs' events, files and notebooks as Markdown.
Not here:  pictures (pictures.py), screenshots (screenshots.py).
Invariant: every file that a page links to exists; mkdocs reports the link otherwise.
"""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path, PurePosixPath

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files, InclusionLevel
from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
LINK = re.compile(r"(?<=\]\()(\.\./[^)#\s]+|(?!\w+:)[\w./-]+)(?=[)#])")
FENCES = re.compile(r"^(```+).*?^\1\s*$", re.DOTALL | re.MULTILINE)
LANGUAGES = {
    ".py": "python",
    ".h": "cpp",
    ".cpp": "cpp",
    ".cu": "cuda",
    ".json": "json",
    ".td": "tablegen",
    ".sh": "bash",
}
HIDDEN = "---\nsearch: {exclude: true}\nhide: [navigation]\n---\n\n"


def outside(link: str, folder: Path) -> Path | None:
    """The file or folder of the repository that a link leads to, if it exists and lies outside of docs/."""
    target = (folder / link).resolve()
    if target.is_relative_to(ROOT) and not target.is_relative_to(DOCS) and target.exists():
        return target
    return None


def page_name(target: Path) -> str:
    """The page, seen from the site's root, that shows a file or a folder."""
    if target == ROOT / "CONTRIBUTING.md":
        return "contributing.md"
    return f"source/{target.relative_to(ROOT).as_posix()}.md"


def fenced(text: str, language: str = "") -> str:
    """Text as a block of code, fenced by more backticks than it has."""
    longest = max((len(run) for run in re.findall(r"`{3,}", text)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}{language}\n{text.rstrip()}\n{fence}\n"


def notebook(text: str) -> str:
    """The cells of a notebook as Markdown; outputs that are text stand below their cell."""
    parts = []
    for cell in json.loads(text)["cells"]:
        source = "".join(cell["source"])
        parts.append(source + "\n" if cell["cell_type"] == "markdown" else fenced(source, "python"))
        for output in cell.get("outputs", ()):
            shown = output.get("text") or output.get("data", {}).get("text/plain")
            if shown:
                parts.append(fenced("".join(shown)))
    return "\n".join(parts)


def tracked(folder: Path) -> list[Path]:
    """The files of a folder that git knows."""
    listed = subprocess.run(["git", "ls-files", "."], cwd=folder, capture_output=True, text=True, check=True)
    return [folder / name for name in listed.stdout.splitlines()]


def shown(target: Path) -> str:
    """A file or a folder as the Markdown of a page."""
    name = target.relative_to(ROOT).as_posix()
    if target.is_dir():
        lines = [f"- [{file.relative_to(target).as_posix()}]({file.name}.md)" for file in tracked(target)]
        # The page of a folder lies beside the folder, the files' pages lie in it.
        lines = [line.replace("](", f"]({target.name}/") for line in lines]
        return f"{HIDDEN}# {name}\n\n" + "\n".join(lines) + "\n"
    if target.suffix == ".ipynb":
        return HIDDEN + notebook(target.read_text())
    return f"{HIDDEN}# {name}\n\n{fenced(target.read_text(), LANGUAGES.get(target.suffix, ''))}"


def links(markdown: str) -> set[str]:
    """Links of a page to files, those in blocks of code left out."""
    return set(LINK.findall(FENCES.sub("", markdown)))


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Adds pages for everything outside of docs/ that pages link to."""
    targets: set[Path] = set()
    pages = [Path(file.abs_src_path) for file in files.documentation_pages() if file.abs_src_path]
    for path in [*pages, ROOT / "CONTRIBUTING.md"]:
        for link in links(path.read_text()):
            if target := outside(link, path.parent):
                targets.update({target, *(tracked(target) if target.is_dir() else ())})
    targets.discard(ROOT / "CONTRIBUTING.md")
    for target in sorted(targets):
        page = File.generated(config, page_name(target), content=shown(target))
        page.inclusion = InclusionLevel.NOT_IN_NAV
        files.append(page)
    files.append(File.generated(config, "contributing.md", content=(ROOT / "CONTRIBUTING.md").read_text()))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Links to files outside of docs/ lead to their pages."""
    name = page.file.src_uri
    source = ROOT / "CONTRIBUTING.md" if name == "contributing.md" else DOCS / name
    if name.startswith("source/"):
        source = ROOT / name.removeprefix("source/").removesuffix(".md")
        if source.suffix != ".ipynb":
            return markdown  # code, and lists of files whose links are right
    up = "../" * (len(PurePosixPath(name).parts) - 1)

    def moved(match: re.Match[str]) -> str:
        if target := outside(match[1], source.parent):
            return up + page_name(target)
        target = (source.parent / match[1]).resolve()
        return up + target.relative_to(DOCS).as_posix() if target.is_relative_to(DOCS) else match[1]

    return LINK.sub(moved, markdown)
