"""A wheel can be published: run as a script by `nox -s wheel`, with the path of the wheel."""

import re
import sys
import zipfile
from email.parser import BytesParser
from pathlib import Path
from tomllib import loads

PROJECT = loads((Path(__file__).parents[1] / "pyproject.toml").read_text())["project"]


def check(path: Path) -> None:
    """Stop with the first reason why a wheel should not be published."""
    from cyclonedx.schema import SchemaVersion  # noqa: PLC0415 -- of the group 'publish'
    from cyclonedx.validation.json import JsonStrictValidator  # noqa: PLC0415

    wheel = zipfile.ZipFile(path)
    names = wheel.namelist()
    (metadata,) = (name for name in names if name.endswith(".dist-info/METADATA"))
    fields = BytesParser().parsebytes(wheel.read(metadata))
    folder = metadata.removesuffix("METADATA")
    if fields["License-Expression"] != PROJECT["license"]:
        sys.exit(f"{path}: its licence is {fields['License-Expression']}")
    licences = fields.get_all("License-File", [])
    absent = [name for name in licences if f"{folder}licenses/{name}" not in names]
    if absent or len(licences) < 4:
        sys.exit(f"{path}: of its licences {licences}, {absent} are absent")
    bill = wheel.read(f"{folder}sboms/vendored.cdx.json").decode()
    fault = JsonStrictValidator(SchemaVersion.V1_6).validate_str(bill)
    if fault is not None:
        sys.exit(f"{path}: its bill of materials is not CycloneDX 1.6: {fault}")
    if sys.platform == "linux" and not re.search(r"-(many|musl)linux_\d+_\d+_\w+", path.name):
        sys.exit(f"{path}: the tag of a wheel for PyPI names manylinux or musllinux")
    sys.stdout.write(f"{path}: tag, licences and bill of materials are right\n")


if __name__ == "__main__":
    check(Path(sys.argv[1]))
