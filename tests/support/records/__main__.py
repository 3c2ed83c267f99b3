"""Write the JSON Schemas of records (`make schemas`)."""

from pathlib import Path

from support.records import RECORDS, schema_text

for name in RECORDS:
    path = Path("schemas/contract", f"{name}.schema.json")
    path.write_text(schema_text(name), encoding="utf-8")
