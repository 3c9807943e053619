"""Makes foreign.parquet, a small table as another program would write it, and
foreign-flat.parquet, the same without its list and with other encodings.

Tool: pyarrow 26.0.1 (Python 3.11).
Command, in this directory: python make.py
"""

import datetime
import decimal

import pyarrow as pa
import pyarrow.parquet as pq

day = datetime.date(2001, 9, 9)
table = pa.table(
    {
        "small": pa.array([1, -2, None, 4, 5], pa.int8()),
        "count": pa.array([4294967295, 0, 1, 2, 3], pa.uint32()),
        "big": pa.array([2**53, -1, 0, None, 7], pa.int64()),
        "half": pa.array([0.5, -2.0, 1.5, 0.0, None], pa.float16()),
        "single": pa.array([0.5, float("nan"), float("inf"), -0.0, None], pa.float32()),
        "ratio": pa.array([0.1, 1e300, None, float("-inf"), -0.0], pa.float64()),
        "organic": pa.array([True, None, False, True, False], pa.bool_()),
        "brand": pa.array(["Zeta", "alpha", None, "Acme", "Zeta"], pa.string()),
        "colour": pa.array(["red", "blue", "red", None, "grün"]).dictionary_encode(),
        "price": pa.array(
            [decimal.Decimal(text) for text in ["1.10", "-2.25", "0.00", "1000.01", "3.30"]],
            pa.decimal128(20, 2),
        ),
        "day": pa.array([day, None, day, day, datetime.date(1970, 1, 2)], pa.date32()),
        "moment": pa.array([1_500, None, -1_000_000, 0, 1], pa.timestamp("us")),
        "nothing": pa.nulls(5),
        "tags": pa.array(
            [["sweet", "vegan"], [], None, [" vegan ", None, ""], ["bitter"]],
            pa.list_(pa.string()),
        ),
        "tag_text": pa.array(["b; a", "", None, "a;;c ", "b"], pa.string()),
        "in_stock": pa.array([True, False, True, False, True], pa.bool_()),
        "rating": pa.array([1, 0, 5, 0, 1], pa.int32()),
        "sold": pa.array(["yes", "no", "no", "yes", "no"], pa.string()),
        "returned": pa.array([0.0, 1.0, None, float("nan"), 0.0], pa.float64()),
    }
)
# Two row groups each.
pq.write_table(table, "foreign.parquet", compression="snappy", row_group_size=3)
pq.write_table(
    table.drop_columns(["tags"]),
    "foreign-flat.parquet",
    compression="gzip",
    row_group_size=4,
    use_dictionary=False,
    use_deprecated_int96_timestamps=True,
    data_page_version="2.0",
)
