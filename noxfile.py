"""Sessions of nox: rare and long work. ``nox --list`` lists them.

``nox -s panels -- --kind judge`` runs one, with its options after ``--``. A session whose libraries
do not go with the others has a venv of its own in ``.nox``, with a group of dependencies of
``pyproject.toml``; it is made again when these, the core or the names of modules change. The other
sessions use ``.venv``, as make does. Nothing is installed on the system.
"""

import hashlib
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Sequence
from pathlib import Path

import nox

nox.options.sessions = []
nox.options.reuse_venv = "yes"

ROOT = Path(__file__).parent
BIN = ROOT / ".venv" / "bin"
COMPILER = os.environ.get("CXX", "c++")
PARALLEL = ("-n", "2", "--dist", "worksteal")

CORE_TESTS = (
    "tests/hedgers/test_*.py",
    "tests/research/games/attacks/test_*.py",
    "tests/mixtures/test_*.py",
    "tests/mixtures/intervals/test_*.py",
    "tests/tables/test_*.py",
    "tests/latent/banks/test_*.py",
    "tests/latent/models/test_*.py",
    "tests/latent/models/emissions/test_*.py",
    "tests/guarantees/test_potentials.py",
    "tests/test_core*.py",
    "tests/test_frozen.py",
    "tests/test_inputs.py",
    "tests/test_own_hedgers.py",
)
"""The tests that run the core most, for builds that are slow."""

FOREIGN = {
    "x86_64-linux-musl": "musllinux_1_2_x86_64",
    "aarch64-linux-musl": "musllinux_1_2_aarch64",
    "aarch64-macos": "macosx_11_0_arm64",
    "x86_64-windows-gnu": "win_amd64",
}
"""The systems that clang compiles for, as it is in the wheel `ziglang`, and their names on PyPI."""

FOREIGN_COMPILERS = {
    "aarch64-linux-gnu-g++": "manylinux_2_28_aarch64",
    "x86_64-w64-mingw32-g++-posix": "win_amd64",
}
"""The cross compilers of Debian, from `make system PARTS=cross`."""

UNCOUNTED = (
    "tests/mixtures/test_sharing.py::test_a_fork_beside_a_thread_gets_a_sound_mixture",
    "tests/test_torture.py::test_no_fault_does_harm[forks]",
    "tests/test_torture.py::test_no_fault_does_harm[interrupts]",
)
"""Forks beside threads and interrupts hang: the counter of lines holds a lock then."""


@nox.session
def peers(session: nox.Session) -> None:
    """Run other libraries next to ours: weights, times, and who wins where, into docs/peers.md."""
    install(session, "peers")
    tests = ["tests/test_peers.py", "tests/tables/test_nixtla.py"]
    tests += ["tests/integrations/test_nixtla.py", "docs/coming-from"]
    session.run("pytest", "-m", "", *tests)
    session.run("python", "-m", "benchmarks.peers")
    for table in ("panels.overview", "overall"):
        session.run("python", "-m", f"benchmarks.{table}")
    session.run("python", "docs/hero_picture.py")


@nox.session
def adapters(session: nox.Session) -> None:
    """Run the adapters with the real libraries, and the suites of these libraries."""
    install(session, "adapters")
    places = ("tests/integrations", "src/normalhedge/integrations")
    session.run("pytest", *PARALLEL, "-m", "", *(session.posargs or places))


@nox.session
def panels(session: nox.Session) -> None:
    """Blend real panels beside plain mean and median, into out/panels; -- --kind judge."""
    install(session, "panels")
    session.run("python", "-m", "benchmarks.panels", *session.posargs)


@nox.session
def cluster(session: nox.Session) -> None:
    """Run the tests of Dask and Spark, and the examples of docs/clusters.md; Spark needs Java."""
    install(session, "cluster")
    if shutil.which("java") is None:
        session.warn("no Java here, tests with Spark are skipped: see `make system PARTS=java`")
    places = ("tests/integrations/clusters", "src/normalhedge/integrations/clusters")
    session.run("pytest", "-m", "", *(session.posargs or (*places, "docs/clusters.md")))


@nox.session(venv_backend="none")
def matrix(session: nox.Session) -> None:
    """Run the tests with the oldest and newest dependencies; -- --only oldest --tests PATH."""
    session.run(sys.executable, "-m", "tests.matrix", *session.posargs)


@nox.session(name="test-all", venv_backend="none")
def test_all(session: nox.Session) -> None:
    """Run the tests, the slow ones too."""
    run(session, "pytest", *PARALLEL, "-m", "", *session.posargs)


@nox.session(venv_backend="none")
def torture(session: nox.Session) -> None:
    """Interrupt, kill and damage mixtures, streams and files; an hour, all failures must be 0."""
    run(session, "python", "-m", "tests.torture", *session.posargs)


@nox.session(venv_backend="none")
def coverage(session: nox.Session) -> None:
    """Count the lines that tests run: 95 % of Python, 90 % of C++ at least; -- core, -- python."""
    # Python: every test that is not slow, and the commands that it starts. C++: the tests of the
    # core alone, as counting makes it slow. pyproject.toml and gcovr.cfg name the lines that do not
    # count, and say why.
    parts = session.posargs or ["core", "python"]
    if "core" in parts:
        folder = build_core(session, "covered", "Debug", "-DNORMALHEDGE_COVERAGE=ON")
        test_core(session, folder, core_tests())
        run(session, "gcovr", "--object-directory", str(folder / "cmake"))
    if "python" in parts:
        shutil.rmtree("build/coverage", ignore_errors=True)
        Path("build/coverage").mkdir(parents=True)
        options = [option for name in UNCOUNTED for option in ("--deselect", name)]
        run(session, "coverage", "run", "-m", "pytest", "-q", *PARALLEL, *options)
        run(session, "coverage", "combine", "--quiet")
        run(session, "coverage", "report")


@nox.session(venv_backend="none")
def sanitize(session: nox.Session) -> None:
    """Compare the types of the core across its files; run its tests under ASan and UBSan."""
    check_definitions(session)
    folder = build_core(session, "sanitized", "Debug", "-DNORMALHEDGE_SANITIZE=ON")
    libraries = [
        subprocess.check_output([COMPILER, f"-print-file-name={name}"], text=True).strip()
        for name in ("libasan.so", "libubsan.so")
    ]
    test_core(
        session,
        folder,
        session.posargs or core_tests(),
        LD_PRELOAD=":".join(libraries),
        ASAN_OPTIONS="detect_leaks=0",
        UBSAN_OPTIONS="print_stacktrace=1",
    )


@nox.session(venv_backend="none")
def portable(session: nox.Session) -> None:
    """Build the core for a plain x86-64, and run the frozen tests."""
    # Other processors and compilers get a core without the choice at run time; its numbers must be
    # the frozen ones.
    folder = build_core(session, "portable", "Release", "-DNORMALHEDGE_PLAIN=ON")
    test_core(session, folder, ["tests/test_frozen.py"])


@nox.session
def cross(session: nox.Session) -> None:
    """Compile the core for macOS, Windows and musl by clang; for Windows and aarch64 by g++."""
    install(session, "cross", package=False)
    out = ROOT / "build" / "cross"
    zig = (str(Path(session.virtualenv.bin) / "python"), "-m", "ziglang", "c++", "-target")
    compilers: list[tuple[tuple[str, ...], str]] = [
        ((*zig, target), platform) for target, platform in FOREIGN.items()
    ]
    for name, platform in FOREIGN_COMPILERS.items():
        if shutil.which(name) is None:
            session.warn(f"{name} is not installed: left out")
        else:
            compilers.append(((name,), platform))
    options = ("-std=c++17", "-O1", "-fopenmp-simd", "-Wall", "-Wextra", "-Werror")
    for command, platform in compilers:
        headers = foreign_headers(session, out / platform, platform)
        for path in sorted((ROOT / "src" / "core").glob("*.cpp")):
            files = ("-c", str(path), "-o", str(out / "core.o"))
            # clang warns of loops that it does not put into vector registers.
            quiet = () if command[0] in FOREIGN_COMPILERS else ("-Wno-pass-failed",)
            session.run(*command, *options, *quiet, *headers, *files, external=True, silent=True)
        session.log(f"{' '.join(command[-1:])}: the core compiles")


@nox.session
def wheel(session: nox.Session) -> None:
    """Build the sdist and, from it alone, the wheel; check both, and try the wheel by itself."""
    install(session, "publish", package=False)
    shutil.rmtree("dist", ignore_errors=True)
    session.run("python", "-m", "build", "--outdir", "dist")
    if sys.platform == "linux":
        (built,) = Path("dist").glob("*.whl")
        session.run("auditwheel", "repair", "--wheel-dir", "dist", str(built))
        if len(list(Path("dist").glob("*.whl"))) > 1:
            built.unlink()
    (built,) = Path("dist").glob("*.whl")
    session.run("twine", "check", "--strict", *map(str, Path("dist").iterdir()))
    session.run("python", "-m", "tests.publishable", str(built))
    check = ("check-jsonschema", "--builtin-schema")
    session.run(*check, "vendor.citation-file-format", "CITATION.cff")
    workflows = map(str, sorted(Path(".github/workflows").glob("*.yml")))
    session.run(*check, "vendor.github-workflows", *workflows)
    for system in ("linux", "macos", "windows"):
        archs = "x86_64,aarch64" if system == "linux" else "auto64"
        options = ("--platform", system, "--archs", archs)
        session.run("cibuildwheel", "--print-build-identifiers", *options)
    with tempfile.TemporaryDirectory() as name:
        # Installed with nothing but NumPy, and used where nothing can be written.
        folder = Path(name)
        python = folder / "venv" / "bin" / "python"
        session.run("python", "-m", "venv", str(folder / "venv"))
        session.run(str(python), "-m", "pip", "install", "-qq", str(built), external=True)
        shutil.copy("tests/smoke.py", folder)
        session.run("chmod", "-R", "a-w", str(folder / "venv" / "lib"), external=True)
        session.chdir(folder)
        try:
            options = ("-i", "HOME=/nonexistent", str(python), "-I", "-B", "smoke.py")
            session.run("env", *options, external=True)
        finally:
            session.chdir(ROOT)
            session.run("chmod", "-R", "u+w", str(folder), external=True)


@nox.session(name="same-bits", venv_backend="none")
def same_bits(session: nox.Session) -> None:
    """Compute every frozen case with and without AVX-512: the bits must be the same."""
    digests = []
    for name, options in (("wide", ()), ("narrow", ("-DNORMALHEDGE_NARROW=ON",))):
        folder = build_core(session, name, "Release", *options)
        program = [str(BIN / "python"), "-S", "-m", "tests.frozen.make_frozen", "--digests"]
        printed = session.run(*program, env=package_of(folder), silent=True)
        lines = [line.split("  ", 1) for line in str(printed).splitlines()]
        digests.append({line[1]: line[0] for line in lines if len(line) == 2})
    different = {name for name, _ in digests[0].items() ^ digests[1].items()}
    if different:
        session.error(f"{len(different)} cases differ: {', '.join(sorted(different))}")
    session.log(f"{len(digests[0])} cases have the same bits")


@nox.session(venv_backend="none")
def note(session: nox.Session) -> None:
    """Build the note on the proofs, out/note/note.pdf; -- --all: compute its long numbers, too."""
    out = Path("out/note")
    out.mkdir(parents=True, exist_ok=True)
    package = Path("src/normalhedge")
    sources = [
        *package.glob("guarantees/*.py"),
        *package.glob("research/games/attacks/*.py"),
        *package.glob("research/paper/*frontier.py"),
        *package.glob("reports/*plots.py"),
    ]
    figure = out / "frontier.pdf"
    if not figure.exists() or figure.stat().st_mtime < max(p.stat().st_mtime for p in sources):
        settings = ("--alpha", "1e-3", "--experts", "1000")
        run(session, "normalhedge", "certify", *settings, "--plot", str(figure))
    # docs/note/numbers.tex keeps the numbers; the long ones take ten minutes.
    run(session, "python", "docs/note/compute.py", *([] if session.posargs else ["--quick"]))
    if shutil.which("pdflatex") is None:
        session.skip("no TeX here, the note is not built: see `make system PARTS=tex`")
    options = ("-interaction=nonstopmode", "-halt-on-error", "-output-directory", str(out))
    for _ in range(3):  # references settle in the third pass
        session.run(
            "pdflatex",
            *options,
            "docs/note/note.tex",
            env={"TEXINPUTS": "docs/note:out/note:"},
            silent=True,
        )
    for line in (out / "note.log").read_text(errors="replace").splitlines():
        if "Overfull" in line or "undefined" in line:
            session.warn(line)
    session.log("wrote out/note/note.pdf")


@nox.session(name="bench-serve", venv_backend="none")
def bench_serve(session: nox.Session) -> None:
    """Measure the service: rates, delays, restart, memory; and under attacks. Minutes."""
    only_attacks = session.posargs[:1] == ["attacks"]
    if not only_attacks:
        run(session, "python", "-m", "benchmarks.serve", *session.posargs)
    if only_attacks or not session.posargs:
        run(session, "python", "-m", "benchmarks.serve_attacks", *session.posargs[1:])


def foreign_headers(session: nox.Session, folder: Path, platform: str) -> list[str]:
    """Return the options of a compiler that find the headers of another system.

    NumPy's are those of its wheel for that system. Python's are the ones of this machine, with the
    settings of Windows where needed: so the core compiles, but cannot be linked.
    """
    if not folder.exists():
        program = "import numpy; print(numpy.__version__)"
        version = subprocess.check_output([BIN / "python", "-c", program], text=True).strip()
        wheel = ("--no-deps", "--only-binary=:all:", "--platform", platform, f"numpy=={version}")
        session.run("pip", "install", "-qq", "--target", str(folder), *wheel)
    python = sysconfig.get_path("include")
    folders = [folder / "numpy" / "_core" / "include", Path(python)]
    if platform == "win_amd64":
        folders.insert(0, ROOT / ".ci" / "windows")
    return [option for path in folders for option in ("-isystem", str(path))]


def install(session: nox.Session, group: str, *, package: bool = True) -> None:
    """Install a group of dependencies and the package, unless the venv has them as they are now."""
    modules = sorted(str(path) for path in (ROOT / "src" / "normalhedge").rglob("*.py"))
    state = hashlib.sha256("\n".join(modules).encode())
    core = sorted((ROOT / "src" / "core").rglob("*.?pp"))
    for path in (ROOT / "pyproject.toml", ROOT / "CMakeLists.txt", *core):
        state.update(path.read_bytes())
    stamp = Path(session.virtualenv.location) / "installed"
    if stamp.exists() and stamp.read_text() == state.hexdigest():
        return
    if package and not any(shutil.which(name) for name in (COMPILER, "g++", "clang++")):
        session.error("a C++17 compiler is needed: `make system PARTS=compiler` on Debian, as root")
    session.install(*(("--editable", ".") if package else ()), "--group", group)
    stamp.write_text(state.hexdigest())


def run(session: nox.Session, program: str, *options: str, **env: str) -> None:
    """Run a program of .venv, which make sets up where it is not ready."""
    subprocess.run(["make", "--silent", ".venv/.ready"], cwd=ROOT, check=True)
    session.run(str(BIN / program), *options, env=env)


def build_core(session: nox.Session, name: str, kind: str, *options: str) -> Path:
    """Build the core in build/NAME, and beside it a copy of the package that has this core."""
    folder = ROOT / "build" / name
    shutil.rmtree(folder, ignore_errors=True)
    python = f"-DPython_EXECUTABLE={BIN / 'python'}"
    cmake = str(folder / "cmake")
    run(session, "cmake", "-S", ".", "-B", cmake, f"-DCMAKE_BUILD_TYPE={kind}", python, *options)
    run(session, "cmake", "--build", cmake, "--parallel", "2")
    package = folder / "package" / "normalhedge"
    shutil.copytree("src/normalhedge", package, ignore=shutil.ignore_patterns("_core*.so"))
    for library in (folder / "cmake").glob("_core*.so"):
        shutil.copy2(library, package)
    return folder


def test_core(session: nox.Session, folder: Path, tests: Sequence[str], **env: str) -> None:
    """Run tests with a package that `build_core` made."""
    options = ("-S", "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist")
    run(session, "python", *options, *tests, **env, **package_of(folder))


def package_of(folder: Path) -> dict[str, str]:
    """Return the environment in which `python -S` imports a package that `build_core` made.

    Without -S, Python would find the installed package first.
    """
    (site,) = BIN.parent.glob("lib/python*/site-packages")
    return {"PYTHONPATH": f"{folder / 'package'}{os.pathsep}{site}"}


def core_tests() -> list[str]:
    """Return the paths of `CORE_TESTS`; a pattern without files is a mistake."""
    paths = []
    for pattern in CORE_TESTS:
        matches = sorted(str(path) for path in ROOT.glob(pattern))
        if not matches:
            raise FileNotFoundError(f"CORE_TESTS of noxfile.py: no test is called {pattern}")
        paths += matches
    return paths


def check_definitions(session: nox.Session) -> None:
    """Link the core with link-time optimisation: g++ then sees all files, and compares their types.

    Two types of one name in two files are undefined behaviour, which neither a compiler of single
    files nor a sanitizer finds.
    """
    if "Free Software Foundation" not in subprocess.check_output(
        [COMPILER, "--version"], text=True
    ):
        session.warn(f"{COMPILER} is not g++, which alone compares types across files: left out")
        return
    flags = "-flto=2 -g -Werror=odr -Werror=lto-type-mismatch"
    options = ("-DNORMALHEDGE_PLAIN=ON", f"-DCMAKE_CXX_FLAGS={flags}")
    build_core(session, "definitions", "None", *options)
