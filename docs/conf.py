"""Settings of the site; `make docs` builds it into out/site.

Notebooks stand in examples, outside of this folder, and Sphinx reads nothing outside: they are copied
to docs/notebooks first. Scripts of the gallery stand in examples/gallery.
"""

import shutil
from importlib.util import find_spec
from pathlib import Path

import click
from sphinx.application import Sphinx

import normalhedge
from normalhedge.cli.commands import group as main

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
exclude_patterns = ["gallery/*.ipynb", "gallery/*.py", "gallery/*.md5", "**.ipynb_checkpoints"]
nitpicky = False
suppress_warnings = ["config.cache"]  # settings with functions in them

# Pages. A fence of `math` is what GitHub draws, too.
myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
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
autosummary_ignore_module_all = False
numpydoc_show_class_members = False
numpydoc_validation_checks = set()
# Of libraries that are not installed beside the others, adapters are shown without their base classes.
autodoc_mock_imports = [
    library
    for library in ("dask", "darts", "distributed", "pyspark", "sktime", "statsforecast")
    if find_spec(library) is None
]

# The gallery.
sphinx_gallery_conf = {
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
}

# The look. Everything that a page loads lies beside it.
templates_path = ["_templates"]
html_theme = "pydata_sphinx_theme"
html_title = "normalhedge"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "show_nav_level": 1,
    "header_links_before_dropdown": 7,
    "navbar_align": "left",
    "navbar_end": ["theme-switcher"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "secondary_sidebar_items": ["page-toc"],
    "pygments_light_style": "tango",
    "pygments_dark_style": "monokai",
}
project_copyright = "BSD-3-Clause"
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

# Formulas are drawn by MathJax, whose files come with a package: browsers without a font for MathML
# draw it badly, and images do not follow the dark mode.
mathjax_path = "mathjax/tex-chtml.js"
mathjax3_config = {"options": {"enableMenu": False}}


def copy_notebooks(app: Sphinx) -> None:
    """Copy the notebooks to where Sphinx reads them."""
    folder = Path(app.srcdir) / "notebooks"
    folder.mkdir(exist_ok=True)
    for old in folder.glob("*.md"):
        old.unlink()
    for notebook in EXAMPLES.glob("*.md"):
        shutil.copy2(notebook, folder)


def write_help(app: Sphinx) -> None:
    """Write the page of the command line from the help of each verb."""
    context = click.Context(main, info_name="normalhedge", terminal_width=100, max_content_width=100)
    parts = ["# Command line", "What `normalhedge VERB --help` prints.", f"```text\n{main.get_help(context)}\n```"]
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
    """Leave out what a class inherits from another library."""
    del app, what, name, skip, options
    module = getattr(thing, "__module__", None)
    return True if module is not None and not module.startswith("normalhedge") else None


def leave_out_missing(app: Sphinx, page: str, text: list[str]) -> None:
    """Leave guides out of the list that are not written yet."""
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
    """Register what happens before and after Sphinx reads and writes pages."""
    app.connect("builder-inited", copy_notebooks, priority=1)
    app.connect("builder-inited", write_help, priority=1)
    app.connect("source-read", leave_out_missing)
    app.connect("autodoc-skip-member", only_ours)
    app.connect("build-finished", copy_mathjax)
