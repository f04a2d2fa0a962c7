"""What a statement may be made of: functions, types and constructs, listed by name.

A name that is not here is refused. Left out on purpose, though they only compute: what
tells of the server or the login, what pads to any length (`format` of PostgreSQL), what
hides text (`decode`), and `min` and `max` where only figures may leave.
"""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from connections.databases.base import Flavour


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


_BOTH = _names("""
    abs acos any_value ascii asin atan atan2 avg bit_and bit_length bit_or bit_xor ceil
    ceiling char_length character_length coalesce concat concat_ws cos cot count
    cume_dist degrees dense_rank exp extract first_value floor greatest lag last_value
    lead least left length ln localtime localtimestamp log lower lpad ltrim max md5 min
    mod now nth_value ntile nullif octet_length percent_rank pi position pow power
    radians rank regexp_instr regexp_like regexp_replace regexp_substr repeat replace
    reverse right round row_number rpad rtrim sign sin sqrt stddev stddev_pop
    stddev_samp substr substring sum tan trim upper var_pop var_samp variance
    current_date current_time current_timestamp cast
""")
_POSTGRES = _BOTH | _names("""
    acosd age array_agg array_append array_cat array_length array_lower array_ndims
    array_position array_positions array_prepend array_remove array_replace
    array_to_string array_upper asind atan2d atand bool_and bool_or btrim cardinality
    cbrt chr clock_timestamp corr cosd cosh covar_pop covar_samp date date_bin date_part
    date_trunc div every generate_series generate_subscripts grouping initcap isfinite
    json_agg json_array_elements json_array_elements_text json_array_length
    json_build_array json_build_object json_each json_each_text json_extract_path
    json_extract_path_text json_object_agg json_object_keys json_typeof jsonb_agg
    jsonb_array_elements jsonb_array_elements_text jsonb_array_length jsonb_build_array
    jsonb_build_object jsonb_each jsonb_each_text jsonb_exists jsonb_extract_path
    jsonb_extract_path_text jsonb_object_agg jsonb_object_keys jsonb_path_exists
    jsonb_path_query jsonb_path_query_array jsonb_path_query_first jsonb_typeof
    justify_days justify_hours justify_interval make_date make_interval make_time
    make_timestamp make_timestamptz mode overlay percentile_cont percentile_disc
    quote_literal random regexp_count regexp_match regexp_matches
    regexp_split_to_array regexp_split_to_table regr_avgx regr_avgy regr_count
    regr_intercept regr_r2 regr_slope regr_sxx regr_sxy regr_syy scale split_part
    starts_with statement_timestamp string_agg string_to_array string_to_table strpos
    sind sinh tand tanh timezone to_char to_date to_hex to_json to_jsonb to_number
    to_timestamp transaction_timestamp translate trim_scale trunc unnest width_bucket
""")
_MYSQL = _BOTH | _names("""
    adddate addtime bin bit_count char conv convert_tz crc32 curdate curtime date
    date_add date_format date_sub datediff day dayname dayofmonth dayofweek dayofyear
    elt field find_in_set format from_days from_unixtime get_format group_concat hex
    hour if ifnull insert instr isnull json_array json_arrayagg json_contains
    json_contains_path json_depth json_extract json_keys json_length json_object
    json_objectagg json_quote json_search json_type json_unquote json_valid json_value
    last_day lcase locate log10 log2 makedate maketime microsecond mid minute month
    monthname oct ord period_add period_diff quarter rand sec_to_time second sha1 sha2
    soundex space std str_to_date strcmp subdate substring_index subtime sysdate time
    time_format time_to_sec timediff timestamp timestampadd timestampdiff to_days
    to_seconds truncate ucase unix_timestamp utc_date utc_time utc_timestamp week
    weekday weekofyear year yearweek
""")
FUNCTIONS: Mapping[Flavour, frozenset[str]] = {
    "postgres": _POSTGRES,
    "mysql": _MYSQL | _names("grouping"),
    "mariadb": _MYSQL | _names("median percentile_cont percentile_disc"),
}

# Those that give rows in FROM, and the names of the columns they give; a name of one
# column is that of the alias where it has one.
TABLE_FUNCTIONS: Mapping[str, tuple[str, ...]] = {
    "generate_series": ("generate_series",),
    "generate_subscripts": ("generate_subscripts",),
    "json_array_elements": ("value",),
    "json_array_elements_text": ("value",),
    "jsonb_array_elements": ("value",),
    "jsonb_array_elements_text": ("value",),
    "json_each": ("key", "value"),
    "json_each_text": ("key", "value"),
    "jsonb_each": ("key", "value"),
    "jsonb_each_text": ("key", "value"),
    "json_object_keys": ("json_object_keys",),
    "jsonb_object_keys": ("jsonb_object_keys",),
    "regexp_matches": ("regexp_matches",),
    "regexp_split_to_table": ("regexp_split_to_table",),
    "string_to_table": ("string_to_table",),
}
NAMED_COLUMNS = frozenset(
    name for name, columns in TABLE_FUNCTIONS.items() if "value" in columns
)

# Aggregates that tell little of a single row; min and max would tell a value.
FIGURES = _names("count sum avg")
# What makes one text of a group, or of a length that it is told.
LENGTHENING: Mapping[str, int] = {"repeat": 1, "lpad": 1, "rpad": 1, "space": 0}
AGGREGATES = FIGURES | _names("""
    any_value array_agg bit_and bit_or bit_xor bool_and bool_or corr covar_pop covar_samp
    every group_concat json_agg json_arrayagg json_object_agg json_objectagg jsonb_agg
    jsonb_object_agg max median min mode percentile_cont percentile_disc regr_avgx
    regr_avgy regr_count regr_intercept regr_r2 regr_slope regr_sxx regr_sxy regr_syy
    std stddev stddev_pop stddev_samp string_agg var_pop var_samp variance
""")

TYPES = frozenset(
    getattr(exp.DType, name)
    for name in _names("""
        ARRAY BIGINT BINARY BOOLEAN BPCHAR CHAR DATE DATETIME DECIMAL DOUBLE FLOAT INT
        INTERVAL JSON JSONB NCHAR NVARCHAR SMALLINT TEXT TIME TIMESTAMP TIMESTAMPNTZ
        TIMESTAMPTZ TIMETZ TINYINT UBIGINT UDECIMAL UINT UUID VARCHAR YEAR
    """)
)

# The constructs of an expression; those of a query are read by `guard_queries`.
EXPRESSIONS: frozenset[type[exp.Expr]] = frozenset(
    getattr(exp, name)
    for name in _names("""
        Add All And Anonymous Any Array ArrayContainedBy ArrayContainsAll ArrayOverlaps
        AtTimeZone Between BitwiseAnd BitwiseLeftShift BitwiseNot BitwiseOr
        BitwiseRightShift BitwiseXor Boolean Bracket Case Cast Collate Column Concat
        CurrentDate CurrentTime CurrentTimestamp DPipe DataType DataTypeParam Distinct
        Div EQ Escape Exists Extract Filter GT GTE GroupConcat ILike If In IntDiv
        Interval Is JSONBContains JSONBExtract JSONBExtractScalar JSONExtract
        JSONExtractScalar Kwarg LT LTE Like Literal Localtime Localtimestamp Mod Mul NEQ
        Neg Not Null NullSafeEQ NullSafeNEQ Or Order Ordered Overlay Paren Placeholder
        Pow RegexpILike RegexpLike SimilarTo Slice Star StrPosition Sub Subquery
        Substring Trim Tuple Var Where Window WindowSpec WithinGroup Xor
    """)
)

# What a bracket follows and is no call; checked in the text that is sent.
SYNTAX = _names("""
    all and any array as between binary bpchar by case char character collate cross cube
    datetime dec decimal distinct div double else end escape except exists filter float
    from group grouping having ilike in inner int integer intersect interval is join
    lateral like limit materialized natural nchar not numeric nvarchar offset on or order
    outer over partition regexp rlike rollup row select separator sets signed similar
    some then time timestamp timestamptz timetz to union unsigned using values varchar
    when where with within xor year
""")
