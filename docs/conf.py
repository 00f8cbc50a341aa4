"""Settings of the site; `make docs` builds it into out/site.

Notebooks stand in examples, outside of this folder, and Sphinx reads nothing outside: they are copied
to docs/notebooks first. Scripts of the gallery stand in examples/gallery.
"""

import shutil
from importlib.util import find_spec
from pathlib import Path

from sphinx.application import Sphinx

import normalhedge

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
suppress_warnings = [
    "toc.empty_glob",  # pages that may be there or not
    "config.cache",  # settings with functions in them
]

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
    app.connect("build-finished", copy_mathjax)
