"""English: phrases and what they ask for."""

from __future__ import annotations

from memory.sql.translator.language import Hinted, Kind, Language
from memory.sql.translator.word_lists import phrase_list, word_list

AGE = (("age", "desc"), ("birth", "asc"), ("dob", "asc"))
TIME = (("*date", "desc"),)
BIG = (("capacity", "desc"), ("area", "desc"), ("size", "desc"), ("population", "desc"))


def _flip(hints: tuple[tuple[str, str], ...]) -> tuple[tuple[str, str], ...]:
    return tuple((name, "asc" if way == "desc" else "desc") for name, way in hints)


def _up(*names: str) -> tuple[tuple[str, str], ...]:
    return tuple((name, "desc") for name in names)


PRICE = _up("price", "cost", "fee", "amount")
SPEED = _up("speed", "velocity")
LENGTH = _up("length", "duration")
COUNTS = dict.fromkeys(
    phrase_list(
        "how many;the number of;number of;total number of;the total number of;count of;"
        "total count of;the count of;the total count of;count;count the number of;"
        "amount of;the amount of;the numbers of;numbers of;"
        "find out how many;how often"
    )
)
AGGREGATES = {
    **dict.fromkeys(
        phrase_list("average;avg;mean;on average"),
        "avg",
    ),
    **dict.fromkeys(phrase_list("minimum;min;minimal"), "min"),
    **dict.fromkeys(phrase_list("maximum;max;maximal"), "max"),
    **dict.fromkeys(
        phrase_list(
            "total;sum;sum of;the sum of;total amount of;the total amount of;overall;"
            "combined;how much"
        ),
        "sum",
    ),
}
SUPERLATIVES = {
    **dict.fromkeys(
        phrase_list(
            "highest;greatest;the most;most;largest number of;highest number of;"
            "greatest number of;most number of;biggest number of;"
            "the largest number of;the highest number of;the greatest number of;"
            "the most number of;the greatest amount of;"
            "the largest amount of;the highest amount of;best"
        ),
        Hinted("desc"),
    ),
    **dict.fromkeys(
        phrase_list(
            "lowest;fewest;least;the least;the fewest;smallest number of;"
            "lowest number of;fewest number of;least number of;"
            "the smallest number of;the lowest number of;the fewest number of;"
            "the least number of;the smallest amount of;the lowest amount of;worst"
        ),
        Hinted("asc"),
    ),
    **dict.fromkeys(("largest", "biggest"), Hinted("desc", BIG)),
    "smallest": Hinted("asc", _flip(BIG)),
    "oldest": Hinted("desc", AGE),
    "eldest": Hinted("desc", AGE),
    "youngest": Hinted("asc", _flip(AGE)),
    **dict.fromkeys(
        ("newest", "latest", "most recent", "most recently", "last"),
        Hinted("desc", TIME),
    ),
    "earliest": Hinted("asc", _flip(TIME)),
    "most expensive": Hinted("desc", PRICE),
    "priciest": Hinted("desc", PRICE),
    "cheapest": Hinted("asc", _flip(PRICE)),
    "least expensive": Hinted("asc", _flip(PRICE)),
    "longest": Hinted("desc", LENGTH),
    "shortest": Hinted("asc", _flip(LENGTH + _up("height"))),
    "heaviest": Hinted("desc", _up("weight")),
    "lightest": Hinted("asc", _flip(_up("weight"))),
    "tallest": Hinted("desc", _up("height")),
    "fastest": Hinted("desc", SPEED),
    "slowest": Hinted("asc", _flip(SPEED)),
}
COMPARISONS = {
    **dict.fromkeys(
        phrase_list(
            "more than;greater than;over;above;larger than;higher than;bigger than;"
            "exceeding;exceeds;exceed;is greater than"
        ),
        Hinted(">"),
    ),
    "older than": Hinted(">", _up("age")),
    "longer than": Hinted(">", LENGTH),
    "heavier than": Hinted(">", _up("weight")),
    "taller than": Hinted(">", _up("height")),
    "younger than": Hinted("<", _up("age")),
    "shorter than": Hinted("<", LENGTH + _up("height")),
    "lighter than": Hinted("<", _up("weight")),
    "cheaper than": Hinted("<", PRICE),
    **dict.fromkeys(
        phrase_list(
            "at least;no less than;not less than;no fewer than;a minimum of;"
            "minimum of;greater than or equal to"
        ),
        Hinted(">="),
    ),
    **dict.fromkeys(
        phrase_list("less than;fewer than;under;below;smaller than;lower than"),
        Hinted("<"),
    ),
    **dict.fromkeys(
        phrase_list(
            "at most;no more than;not more than;a maximum of;up to;"
            "less than or equal to"
        ),
        Hinted("<="),
    ),
    **dict.fromkeys(phrase_list("exactly;equal to;equals;equal;="), Hinted("=")),
    "before": Hinted("<", _up("*date")),
    "earlier than": Hinted("<", _up("*date")),
    "prior to": Hinted("<", _up("*date")),
    "after": Hinted(">", _up("*date")),
    "later than": Hinted(">", _up("*date")),
    "since": Hinted(">=", _up("*date")),
    "until": Hinted("<=", _up("*date")),
    "aged": Hinted("=", _up("age")),
    "aged over": Hinted(">", _up("age")),
    "aged under": Hinted("<", _up("age")),
}
ROLES: dict[Kind, dict[str, object]] = {
    "#": dict(COUNTS),
    "a": dict(AGGREGATES),
    "s": dict(SUPERLATIVES),
    ">": dict(COMPARISONS),
    "g": {
        **dict.fromkeys(("or more", "or above", "or over", "or later"), ">="),
        **dict.fromkeys(("or after", "or older", "or greater", "and above"), ">="),
        **dict.fromkeys(("or less", "or fewer", "or below", "or earlier"), "<="),
        **dict.fromkeys(("or before", "or younger", "or under"), "<="),
    },
    "e": dict.fromkeys(
        phrase_list(
            "each;every;per;for each;for every;of each;of every;in each;in every;"
            "from each;from every;by each;grouped by;group by;broken down by;"
            "for each of;for the different;for different;each of"
        )
    ),
    "k": dict[str, object](
        dict.fromkeys(("top", "the top", "first"), "desc") | {"bottom": "asc"}
    ),
    "m": dict[str, object](
        dict.fromkeys(
            phrase_list(
                "most common;most popular;most frequent;the most common;the most popular;"
                "the most frequent;most frequently used"
            ),
            "desc",
        )
        | dict.fromkeys(
            phrase_list(
                "least common;least popular;rarest;most rare;the least common;"
                "the least popular"
            ),
            "asc",
        )
    ),
    "o": dict.fromkeys(
        phrase_list(
            "ordered by;order by;sorted by;sort by;in order of;the order of;order of;"
            "sorted according to;ranked by;rank by;sorted in;in the order of;"
            "sorted from;ordered from;sorted;order them by;sort them by;"
            "sort;order the results by;sort the results by;"
            "and sort by;and order by"
        )
    ),
    "r": {
        **dict.fromkeys(
            phrase_list(
                "ascending;increasing;ascending order;increasing order;asc;ascending order"
                " of;in ascending order;in increasing order;in ascending order of;"
                "from lowest to highest;from smallest to largest;from youngest to oldest;"
                "from the youngest to the oldest;lowest first;oldest first;"
                "from low to high;from least to most;lowest to highest"
            ),
            "asc",
        ),
        **dict.fromkeys(
            phrase_list(
                "descending;decreasing;descending order;decreasing order;desc;"
                "in descending order;in decreasing order;in descending order of;"
                "from highest to lowest;from largest to smallest;highest first;"
                "from oldest to youngest;from the oldest to the youngest;newest first;"
                "largest first;most first;latest first;from high to low;"
                "from most to least;highest to lowest;from the highest to the"
                " lowest"
            ),
            "desc",
        ),
        **dict.fromkeys(
            phrase_list(
                "alphabetically;alphabetical;alphabetical order;in alphabetical order;"
                "lexicographical order;lexicographic order;in lexicographical order;"
                "ascending alphabetical order;in ascending alphabetical order"
            ),
            "alpha asc",
        ),
        **dict.fromkeys(
            phrase_list(
                "reverse alphabetical order;in reverse alphabetical order;"
                "descending alphabetical order;in descending alphabetical order"
            ),
            "alpha desc",
        ),
    },
    "b": {"between": None, "in the range of": None, "ranging from": None},
    "!": dict.fromkeys(
        phrase_list(
            "not;never;don't;doesn't;didn't;isn't;aren't;wasn't;weren't;haven't;hasn't;"
            "cannot;other than;excluding;except;except for;besides;do not;does not;"
            "did not;is not;are not;has not;have not;not been;different from;"
            "have never;has never"
        )
    ),
    "0": dict.fromkeys(
        phrase_list(
            "without;without any;no;without a;without an;have no;has no;had no;"
            "do not have any;do not have a;does not have any;do not have;does not have;"
            "did not have;did not have any;did not have a;not have any;with no;"
            "never had;never had a;did not have an;do not have an;nothing;lacking;"
            "who have no;there are no;there is no"
        )
    ),
    "&": {"and": None, "as well as": None, "along with": None, "together with": None},
    "|": {"or": None},
    "B": {"both": None},
    "u": dict.fromkeys(
        ("distinct", "different", "unique", "kinds of", "types of", "various")
    ),
    "l": {
        **dict.fromkeys(
            phrase_list(
                "containing;contains;contain;including;includes;include;substring;"
                "the substring;containing the word;contains the word;the word;the letter;"
                "the letters;the string;like;contains the substring;contain the substring;"
                "having the substring;has the substring;with the substring;the phrase;"
                "contain the word;contains the letter;containing the letter"
            ),
            "contains",
        ),
        **dict.fromkeys(
            phrase_list(
                "starting with;starts with;start with;beginning with;begins with;"
                "begin with;start with the letter;starts with the letter;"
                "starting with the letter;begins with the letter;begin with the letter;"
                "that begin with;with the prefix;has prefix;prefix;the prefix"
            ),
            "starts",
        ),
        **dict.fromkeys(
            phrase_list(
                "ending with;ends with;end with;ending in;ends in;end in;ends with the"
                " letter;end with the letter"
            ),
            "ends",
        ),
    },
    "w": dict.fromkeys(
        phrase_list(
            "who;whose;whom;that;where;with;when;having;in which;for which;from which;"
            "on which;to which;of which;at which;such that;given that;if"
        )
    ),
    "h": dict.fromkeys(phrase_list("has;have;had;having;is;are;was;were;be;been")),
    "p": dict.fromkeys(
        phrase_list(
            "of;across;for;from;in;at;on;to;by;into;within;during;among;about;under which;"
            "through;belonging to;belong to;belongs to;located in;of all;for all;"
            "from all;in all;named;called;titled"
        )
    ),
    "L": dict.fromkeys(
        phrase_list(
            "show;list;give;find;return;display;tell;name;show me;give me;tell me;report;"
            "provide;include;get;fetch;select;identify;determine;calculate;compute"
        )
    ),
    "W": dict.fromkeys(("which", "what", "what's", "whats")),
    "*": dict.fromkeys(
        phrase_list(
            "all information;all the information;all info;all details;all the details;"
            "everything;all columns;all fields;all attributes;information;info;"
            "details;detail"
        )
    ),
}
STOPS = frozenset(
    word_list(
        "a an the do does did can could will would shall should may might must am i we you"
        " they he she it its their his her our your me us them there this these those all"
        " any some either please also only just then than as so such ones one's now ever"
        " respective respectively corresponding associated exist exists existing currently"
        " together following want know like see need us people's well out up listed"
        " available present value values data record records table tables row rows column"
        " columns database each's been being"
    )
)
LIGHT = frozenset(
    word_list(
        "belong belongs come comes came happen happened happens occur occurred occurs take"
        " takes took taken place live lives lived living work works worked working play"
        " plays played playing perform performs performed made make makes produce produces"
        " produced teach teaches taught sell sells sold buy buys bought purchase purchases"
        " purchased own owns owned write writes wrote written offer offers offered use uses"
        " used hold holds held run runs receive receives received get gets got given gave"
        " register registered enroll enrolled participate participated participating attend"
        " attended attends locate located situated contain join joined assign assigned serve"
        " serves served provide provided release released publish published hire hires hired"
        " hiring create created order ordered orders placed place put open opened book"
        " booked pay paid pays spend spent visit visited rate rated cost costs stand stay"
        " stayed win won lost lose earn earned earns start started end ended born associate"
        " currently total involve involved done carry carried go goes went gone keep kept"
        " include included appear appeared appears treat treated study studied studies"
        " studying speak speaks spoken spoke used supply supplied manage managed manages"
        " ship shipped report reported contact contacted reach reached cover direct directed"
        " sing sang sung sings record recorded compete competed own arrive arrives arriving"
        " depart departs departing fly flies leave leaves"
    )
)
ENGLISH = Language(
    name="english",
    roles=ROLES,
    stops=STOPS,
    light=LIGHT,
    months={
        name: place // 2 + 1
        for place, name in enumerate(
            word_list(
                "january jan february feb march mar april apr may may june jun july jul"
                " august aug september sep october oct november nov december dec"
            )
        )
    },
    numbers={
        name: number
        for number, name in enumerate(
            word_list(
                "zero one two three four five six seven eight nine ten eleven twelve"
            )
        )
    },
    units={
        **dict.fromkeys(("day", "days"), "day"),
        **dict.fromkeys(("week", "weeks"), "week"),
        **dict.fromkeys(("month", "months"), "month"),
        **dict.fromkeys(("quarter", "quarters"), "quarter"),
        **dict.fromkeys(("year", "years"), "year"),
    },
    last=frozenset(("last", "past", "previous")),
    this=frozenset(("this", "current")),
    next_=frozenset(("next",)),
    days={"today": 0, "yesterday": -1, "tomorrow": 1},
    names=frozenset(("name", "title")),
    keys=frozenset(("id", "ids", "identifier", "identifiers", "key", "keys")),
    telling=frozenset(("when", "how long")),
    prefixes={},
)
