"""Settings of the site; `make docs` builds it into out/site.

Notebooks stand in examples, outside of this folder, and Sphinx reads nothing outside: they are
copied to docs/notebooks first. Scripts of the gallery stand in examples/gallery.
"""

import json
import os
import shutil
import sys
from importlib.util import find_spec
from pathlib import Path

import click
from sphinx.application import Sphinx
from sphinx.pycode import ModuleAnalyzer

import normalhedge
from normalhedge.cli._commands import group as main

DOCS = Path(__file__).parent
EXAMPLES = DOCS.parent / "examples"

project = "normalhedge"
author = "The authors of normalhedge"
version = release = normalhedge.__version__

extensions = [
    "myst_nb",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = [
    "gallery/*.ipynb",
    "gallery/*.py",
    "gallery/*.md5",
    "note",  # it is built by `nox -s note`
    "_generated",
    "**.ipynb_checkpoints",
]
nitpicky = False
suppress_warnings = ["config.cache"]  # settings with functions in them

# Pages. GitHub draws a fence of `math`, too.
myst_enable_extensions = ["colon_fence", "deflist", "dollarmath", "substitution"]
figures = json.loads((DOCS / "overview.json").read_text(encoding="utf-8"))
myst_substitutions = {
    "panels": figures["panels"],
    "saved": f"{1.0 - figures['absolute']['normalhedge']['mean']:.0%}".replace("%", " %"),
    "stack": f"{figures['absolute']['ridge stack']['mean']:.2f}",
}
myst_fence_as_directive = ["math"]
myst_heading_anchors = 4
myst_links_external_new_tab = False
nb_execution_mode = "force"
nb_execution_raise_on_error = True
nb_execution_timeout = 120
nb_merge_streams = True

# Docstrings.
default_role = "py:obj"
autodoc_typehints = "none"
autodoc_member_order = "bysource"
autosummary_generate = True
toc_object_entries_show_parents = "hide"
autosummary_ignore_module_all = False
numpydoc_show_class_members = False
numpydoc_validation_checks = set()
# Adapters to libraries that are not installed are shown without their base classes.
autodoc_mock_imports = [
    library
    for library in ("dask", "darts", "distributed", "pyspark", "sktime", "statsforecast")
    if find_spec(library) is None
]


def draw_for_both_modes(_gallery: dict[str, object], _script: str) -> None:
    """Draw figures without a background, in a grey that is read on white and on black."""
    import matplotlib as mpl  # noqa: PLC0415 -- after the reset of sphinx-gallery

    names = ("text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color")
    mpl.rcParams.update(dict.fromkeys(names, GREY) | {"savefig.transparent": True})


GREY = "#7d8590"

# The gallery.
sphinx_gallery_conf = {
    "reset_modules": ("matplotlib", draw_for_both_modes),
    "examples_dirs": str(EXAMPLES / "gallery"),
    "gallery_dirs": "gallery",
    "filename_pattern": r"plot_",
    "download_all_examples": False,
    "remove_config_comments": True,
    "show_memory": False,
    "show_signature": False,
    "abort_on_example_error": True,
    "min_reported_time": 1e9,
    "copyfile_regex": r"$^",
    "backreferences_dir": None,
    "plot_gallery": True,
    "matplotlib_animations": False,
    "write_computation_times": False,
    "within_subsection_order": "FileNameSortKey",
    "capture_repr": ("_repr_html_",),
}

# The look. Everything that a page loads lies beside it.
templates_path = ["_templates"]
html_theme = "pydata_sphinx_theme"
html_title = "normalhedge"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_js_files = [("sort.js", {"defer": "defer"})]
html_extra_path = ["llms.txt"]
html_favicon = "_static/logo.svg"
html_context = {"default_mode": "auto"}
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "logo": {
        "image_light": "_static/logo.svg",
        "image_dark": "_static/logo.svg",
        "text": f"normalhedge {version}",
    },
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "show_nav_level": 1,
    "header_links_before_dropdown": 8,
    "navbar_align": "left",
    "navbar_end": ["theme-switcher"],
    "footer_start": [],
    "footer_end": [],
    "secondary_sidebar_items": ["page-toc"],
}
html_sidebars = {"start": []}  # it has no pages below it
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

# Formulas are drawn by MathJax, whose files come with a package: browsers without a font for MathML
# draw it badly, and images do not follow the dark mode.
mathjax_path = "mathjax/tex-chtml.js"
mathjax3_config = {"options": {"enableMenu": False}}


def copy_notebooks(app: Sphinx) -> None:
    """Copy the notebooks, and the table that they read, to where Sphinx reads them."""
    folder = Path(app.srcdir) / "notebooks"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for path in (*EXAMPLES.glob("*.md"), EXAMPLES / "temperatures.csv"):
        shutil.copy2(path, folder)


def quiet_kernels(app: Sphinx) -> None:
    """Give notebooks a profile of their own, which says nothing about ports."""
    folder = Path(app.doctreedir) / "ipython"
    (folder / "profile_default").mkdir(parents=True, exist_ok=True)
    settings = folder / "profile_default" / "ipython_kernel_config.py"
    settings.write_text("c.IPKernelApp.log_level = 'ERROR'\n", encoding="utf-8")
    os.environ["IPYTHONDIR"] = str(folder)


def write_help(app: Sphinx) -> None:
    """Write the page of the command line from the help of each verb."""
    context = click.Context(
        main, info_name="normalhedge", terminal_width=100, max_content_width=100
    )
    parts = [
        "# Command line",
        "The output of `normalhedge VERB --help`.",
        f"```text\n{main.get_help(context)}\n```",
    ]
    for name in main.list_commands(context):
        verb = main.get_command(context, name)
        if verb is not None:
            inner = click.Context(verb, info_name=name, parent=context)
            parts += [f"## {name}", f"```text\n{verb.get_help(inner)}\n```"]
    folder = Path(app.srcdir) / "reference" / "api"
    folder.mkdir(exist_ok=True)
    (folder / "command-line.md").write_text("\n\n".join(parts) + "\n", encoding="utf-8")


def only_ours(
    app: Sphinx, what: str, name: str, thing: object, skip: bool, options: object
) -> bool | None:
    """Leave out the members that a class inherits from another library."""
    del app, what, name, skip, options
    module = getattr(thing, "__module__", None)
    return True if module is not None and not module.startswith("normalhedge") else None


def describe_data(
    app: Sphinx, what: str, name: str, thing: object, options: object, lines: list[str]
) -> None:
    """Find the description of a constant where it is defined, not where it is imported."""
    del app, options
    if what != "data":
        return
    lines.clear()
    short = name.rpartition(".")[2]
    for module, there in list(sys.modules.items()):
        if module.startswith("normalhedge.") and getattr(there, short, None) is thing:
            lines[:] = lines or ModuleAnalyzer.for_module(module).find_attr_docs().get(
                ("", short), []
            )


def tidy(app: Sphinx, page: str, text: list[str]) -> None:
    """Leave out guides that are not written yet, and the empty line that ends a doctest."""
    text[0] = text[0].replace("\n\n```\n", "\n```\n")
    if page == "guides/index":
        for name in ("service", "clusters"):
            if not (Path(app.srcdir) / f"{name}.md").exists():
                text[0] = text[0].replace(f"../{name}\n", "")


def copy_mathjax(app: Sphinx, exception: Exception | None) -> None:
    """Copy the script and the fonts of MathJax that pages load, a tenth of all its files."""
    package = find_spec("sphinx-mathjax-offline")
    if exception is not None or package is None or package.origin is None:
        return
    source = Path(package.origin).parent / "static" / "mathjax"
    target = Path(app.outdir) / "_static" / "mathjax"
    target.mkdir(parents=True, exist_ok=True)
    shutil.copy2(source / "tex-chtml.js", target)
    fonts = "output/chtml/fonts/woff-v2"
    shutil.copytree(source / fonts, target / fonts, dirs_exist_ok=True)


def setup(app: Sphinx) -> None:
    """Register the steps before and after Sphinx reads and writes pages."""
    app.connect("builder-inited", copy_notebooks, priority=1)
    app.connect("builder-inited", quiet_kernels, priority=1)
    app.connect("builder-inited", write_help, priority=1)
    app.connect("autodoc-process-docstring", describe_data)
    app.connect("source-read", tidy)
    app.connect("autodoc-skip-member", only_ours)
    app.connect("build-finished", copy_mathjax)
