"""Who may import whom: pages → specdec.ui → specdec, and heavy libraries only where needed."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
HEAVY = {"torch", "transformers", "safetensors", "gguf", "accelerate", "streamlit", "plotly"}
SCREEN = {"streamlit", "plotly"}
SUBJECT = sorted(p for p in (ROOT / "specdec").rglob("*.py") if "ui" not in p.parts)
UI = sorted((ROOT / "specdec" / "ui").rglob("*.py"))
PAGES = [ROOT / "app.py", *sorted((ROOT / "pages").glob("*.py"))]


def imported(source: str, *, at_import: bool = False, package: str = "") -> set[str]:
    """Full names of all modules that a source imports; `at_import`: outside functions only."""
    names: set[str] = set()

    def visit(node: ast.AST) -> None:
        if at_import and isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            return
        if at_import and isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            return
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        if isinstance(node, ast.ImportFrom):
            module = node.module or ""
            if node.level:
                module = ".".join([*package.split(".")[: 1 - node.level or None], module]).strip(
                    "."
                )
            names.update({module} | {f"{module}.{alias.name}" for alias in node.names})
        for child in ast.iter_child_nodes(node):
            visit(child)

    visit(ast.parse(source))
    return names


def of_file(path: Path, *, at_import: bool = False) -> set[str]:
    package = ".".join(path.relative_to(ROOT).parent.parts)
    return imported(path.read_text(encoding="utf-8"), at_import=at_import, package=package)


def under(names: set[str], *tops: str) -> set[str]:
    """Those of the names that are one of `tops` or inside it."""
    return {name for name in names if any(f"{name}.".startswith(f"{top}.") for top in tops)}


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("import a.b, c", {"a.b", "c"}),
        ("from a import b", {"a", "a.b"}),
        ("from . import b", {"x.y", "x.y.b"}),
        ("from ..z import b", {"x.z", "x.z.b"}),
        ("def f():\n    import a", {"a"}),
    ],
)
def test_imports_are_read(source: str, names: set[str]) -> None:
    assert imported(source, package="x.y") == names


def test_imports_of_functions_and_types_do_not_happen_at_import() -> None:
    source = "if TYPE_CHECKING:\n    import a\ntry:\n    import b\nfinally:\n    pass\n"
    source += "class C:\n    import c\n    def f(self):\n        import d\n"
    assert imported(source, at_import=True) == {"b", "c"}


@pytest.mark.parametrize("path", SUBJECT, ids=lambda p: str(p.relative_to(ROOT)))
def test_the_subject_knows_no_screen(path: Path) -> None:
    names = of_file(path)
    assert not under(names, *SCREEN, "specdec.ui", "pages", "app")


@pytest.mark.parametrize("path", UI, ids=lambda p: p.name)
def test_the_screen_knows_no_page(path: Path) -> None:
    assert not under(of_file(path), "pages", "app")


@pytest.mark.parametrize("path", PAGES, ids=lambda p: p.name)
def test_pages_load_no_model_library_and_no_other_page(path: Path) -> None:
    assert not under(of_file(path), *(HEAVY - SCREEN), "pages", "app")


def test_importing_specdec_loads_numpy_only() -> None:
    script = "import sys, specdec; print(*sorted({name.split('.')[0] for name in sys.modules}))"
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert {"specdec", "numpy"} <= loaded
    assert not loaded & HEAVY


@pytest.mark.parametrize("path", SUBJECT, ids=lambda p: str(p.relative_to(ROOT)))
def test_heavy_libraries_are_loaded_by_models_alone(path: Path) -> None:
    """Elsewhere a function that needs one imports it inside."""
    if "models" in path.parts or "distill" in path.parts:
        assert not under(of_file(path, at_import=True), *SCREEN)
    else:
        assert not under(of_file(path, at_import=True), *HEAVY)
