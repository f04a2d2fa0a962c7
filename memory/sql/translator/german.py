"""German: phrases and what they ask for; in the spellings that people type."""

from __future__ import annotations

from collections.abc import Iterator

from memory.sql.translator.english import AGE as AGE_ENGLISH
from memory.sql.translator.english import _flip, _up
from memory.sql.translator.language import Hinted, Kind, Language
from memory.sql.translator.word_lists import phrase_list, word_list

AGE = (("alter", "desc"), ("geburt", "asc"), *AGE_ENGLISH)
TIME = (("*date", "desc"),)
BIG = _up("kapazität", "fläche", "größe", "einwohner", "capacity", "area", "size")
PRICE = _up("preis", "kosten", "betrag", "gebühr", "price", "cost", "amount")
LENGTH = _up("länge", "dauer", "length", "duration")
WEIGHT = _up("gewicht", "weight")


def _forms(*bases: str) -> Iterator[str]:
    """Yield adjectives with the endings they take."""
    for base in bases:
        for ending in ("", "e", "en", "er", "es", "em"):
            yield base + ending


def _kein() -> Iterator[str]:
    for ending in ("", "e", "en", "er", "es", "em"):
        yield f"kein{ending}"


SUPERLATIVES = {
    **dict.fromkeys(
        (*_forms("höchst", "meist"), "am meisten", "am höchsten", "am häufigsten"),
        Hinted("desc"),
    ),
    **dict.fromkeys(
        (*_forms("niedrigst", "wenigst", "geringst"), "am wenigsten", "am niedrigsten"),
        Hinted("asc"),
    ),
    **dict.fromkeys((*_forms("größt"), "am größten"), Hinted("desc", BIG)),
    **dict.fromkeys((*_forms("kleinst"), "am kleinsten"), Hinted("asc", _flip(BIG))),
    **dict.fromkeys((*_forms("ältest"), "am ältesten"), Hinted("desc", AGE)),
    **dict.fromkeys((*_forms("jüngst"), "am jüngsten"), Hinted("asc", _flip(AGE))),
    **dict.fromkeys(
        (*_forms("neuest", "letzt", "neueste"), "zuletzt"), Hinted("desc", TIME)
    ),
    **dict.fromkeys(_forms("frühest", "erst"), Hinted("asc", _flip(TIME))),
    **dict.fromkeys((*_forms("teuerst"), "am teuersten"), Hinted("desc", PRICE)),
    **dict.fromkeys(
        (*_forms("billigst", "günstigst"), "am billigsten", "am günstigsten"),
        Hinted("asc", _flip(PRICE)),
    ),
    **dict.fromkeys((*_forms("längst"), "am längsten"), Hinted("desc", LENGTH)),
    **dict.fromkeys((*_forms("kürzest"), "am kürzesten"), Hinted("asc", _flip(LENGTH))),
    **dict.fromkeys((*_forms("schwerst"), "am schwersten"), Hinted("desc", WEIGHT)),
    **dict.fromkeys(
        (*_forms("leichtest"), "am leichtesten"), Hinted("asc", _flip(WEIGHT))
    ),
}
COMPARISONS = {
    **dict.fromkeys(
        phrase_list("mehr als;größer als;über;höher als;oberhalb;übersteigt;mehr"),
        Hinted(">"),
    ),
    "älter als": Hinted(">", AGE[:1] + AGE_ENGLISH[:1]),
    "jünger als": Hinted("<", AGE[:1] + AGE_ENGLISH[:1]),
    "schwerer als": Hinted(">", WEIGHT),
    "leichter als": Hinted("<", WEIGHT),
    "länger als": Hinted(">", LENGTH),
    "kürzer als": Hinted("<", LENGTH),
    **dict.fromkeys(
        phrase_list("mindestens;wenigstens;nicht weniger als;ab"), Hinted(">=")
    ),
    **dict.fromkeys(
        phrase_list(
            "weniger als;kleiner als;unter;niedriger als;geringer als;unterhalb;"
            "unter dem;unter der"
        ),
        Hinted("<"),
    ),
    **dict.fromkeys(
        phrase_list("höchstens;maximal;nicht mehr als;bis zu"), Hinted("<=")
    ),
    **dict.fromkeys(phrase_list("genau;gleich"), Hinted("=")),
    "vor": Hinted("<", _up("*date")),
    "vor dem jahr": Hinted("<", _up("*date")),
    "nach": Hinted(">", _up("*date")),
    "nach dem jahr": Hinted(">", _up("*date")),
    "seit": Hinted(">=", _up("*date")),
}
ROLES: dict[Kind, dict[str, object]] = {
    "#": dict.fromkeys(
        phrase_list(
            "wie viele;wieviele;anzahl;die anzahl;anzahl der;anzahl von;gesamtzahl;"
            "gesamtzahl der;gesamtanzahl;gesamtanzahl der;zahl der;anzahl an;zähle;"
            "zähle die anzahl der;zähle die;wie oft;die zahl der;die anzahl der"
        )
    ),
    "a": {
        **dict.fromkeys(
            (*_forms("durchschnittlich", "mittler"), "durchschnitt", "mittelwert"),
            "avg",
        ),
        **dict.fromkeys(
            (*_forms("minimal", "mindest"), "minimum", "mindestwert"), "min"
        ),
        **dict.fromkeys((*_forms("maximal"), "maximum", "höchstwert"), "max"),
        **dict.fromkeys((*_forms("gesamt"), "summe", "insgesamt", "wie viel"), "sum"),
    },
    "s": dict(SUPERLATIVES),
    ">": dict(COMPARISONS),
    "g": {
        **dict.fromkeys(("oder mehr", "oder danach", "oder später", "und mehr"), ">="),
        **dict.fromkeys(("oder weniger", "oder davor", "oder früher"), "<="),
    },
    "e": dict.fromkeys(
        (
            *_forms("jed", "jeweilig", "einzeln"),
            "pro",
            "je",
            "für jede",
            "für jeden",
            "für jedes",
            "in jedem",
            "in jeder",
            "aus jedem",
            "aus jeder",
            "der einzelnen",
            "gruppiert nach",
            "für die verschiedenen",
        )
    ),
    "k": dict[str, object](dict.fromkeys(("top", "die top"), "desc")),
    "m": dict[str, object](
        dict.fromkeys(_forms("häufigst", "beliebtest"), "desc")
        | dict.fromkeys(_forms("seltenst"), "asc")
    ),
    "o": dict.fromkeys(
        phrase_list(
            "sortiert nach;geordnet nach;sortiere nach;ordne nach;in der reihenfolge;"
            "sortiere;ordne;sortiert;geordnet;in reihenfolge;reihenfolge;sortieren;"
            "in der reihenfolge der"
        )
    ),
    "r": {
        **dict.fromkeys(
            (
                *_forms("aufsteigend"),
                "in aufsteigender reihenfolge",
                "aufsteigend sortiert nach",
                "in aufsteigender reihenfolge nach",
                "in aufsteigender reihenfolge des",
                "vom jüngsten zum ältesten",
            ),
            "asc",
        ),
        **dict.fromkeys(
            (
                *_forms("absteigend"),
                "in absteigender reihenfolge",
                "absteigend sortiert nach",
                "in absteigender reihenfolge nach",
                "in absteigender reihenfolge des",
                "vom ältesten zum jüngsten",
            ),
            "desc",
        ),
        **dict.fromkeys(
            (
                *_forms("alphabetisch"),
                "in alphabetischer reihenfolge",
                "aufsteigend alphabetisch",
            ),
            "alpha asc",
        ),
    },
    "b": {"zwischen": None},
    "!": dict.fromkeys(
        phrase_list(
            "nicht;nie;niemals;außer;ausgenommen;mit ausnahme der;mit ausnahme von"
        )
    ),
    "0": dict.fromkeys((*_kein(), "ohne", "nichts", "noch nie", "ohne einen")),
    "&": {"und": None, "sowie": None, "und auch": None},
    "|": {"oder": None},
    "B": {"sowohl": None, "beide": None, "beides": None},
    "u": dict.fromkeys(_forms("verschieden", "unterschiedlich", "eindeutig")),
    "l": {
        **dict.fromkeys(
            phrase_list(
                "enthält;enthalten;mit dem wort;die teilzeichenkette;teilzeichenkette;"
                "das wort;beinhaltet;beinhalten;mit der teilzeichenkette"
            ),
            "contains",
        ),
        **dict.fromkeys(
            phrase_list(
                "beginnt mit;beginnen mit;beginnend mit;anfangen mit;mit dem"
                " anfangsbuchstaben;mit dem buchstaben"
            ),
            "starts",
        ),
        **dict.fromkeys(phrase_list("endet mit;enden mit;endend mit"), "ends"),
    },
    "w": dict.fromkeys(
        phrase_list(
            "deren;dessen;denen;wobei;mit;wo;in denen;in dem;bei denen;wenn;für die;"
            "in der;für den"
        )
    ),
    "h": dict.fromkeys(phrase_list("hat;haben;hatte;hatten;ist;sind;war;waren;wird")),
    "p": dict.fromkeys(
        phrase_list(
            "von;für;aus;in;an;auf;zu;bei;im;am;vom;zum;zur;beim;während;innerhalb;"
            "namens;genannt;nach der;von allen;aller"
        )
    ),
    "L": dict.fromkeys(
        phrase_list(
            "zeige;zeig;liste;nenne;gib;finde;suche;gebe;listen;zeigen;nennen;geben;"
            "zeige mir;gib mir;nenne mir;finden;finde heraus;ermittle;liefere"
        )
    ),
    "W": dict.fromkeys((*_forms("welch"), "was", "wer")),
    "*": dict.fromkeys(
        phrase_list(
            "alle informationen;alle details;alle angaben;sämtliche informationen;"
            "informationen;alle daten;alles"
        )
    ),
}
STOPS = frozenset(
    word_list(
        "der die das den dem des ein eine einen einem einer eines wie lautet lauten heißt"
        " heißen heisst hoch groß es gibt gab alle allen alles auch nur wir ihr sie er uns"
        " ihre ihren ihrer ihres ihrem sein seine seinen seiner seines mir ich man sich"
        " dort da denn doch bitte an aus auf wurde wurden worden werden kann können zurück"
        " diese dieser dieses diesen jeweils zugehörigen entsprechenden entsprechende als"
        " aufgelistet vorhanden einige einiger um um wieder zu zeile zeilen datenbank wert"
        " werte tabelle spalte statt sowie viel viele dass ob einzigen"
    )
)
LIGHT = frozenset(
    word_list(
        "stattfinden stattfand stattfanden stattfindet stattgefunden fand fanden finden"
        " findet statt leben lebt lebte wohnen wohnt arbeiten arbeitet kommen kommt kam"
        " stammen stammt produziert produzieren hergestellt herstellen gemacht macht machen"
        " gekauft kaufen kauft kaufte bestellt bestellten bestellen verkauft verkaufen"
        " besitzt besitzen besaß geschrieben schreiben schrieb erhalten erhielt bekommen"
        " bekam benutzt benutzen verwendet verwenden durchgeführt durchführen gehören gehört"
        " liegt liegen befindet befinden registriert angemeldet teilgenommen teilnehmen"
        " nahmen teil aufgetreten auftreten trat entwickelt entwickeln entworfen veröffentlicht"
        " eingestellt angestellt beschäftigt bezahlt zahlen gezahlt ausgegeben gekostet"
        " kosten kostet eröffnet geöffnet gemeldet gestellt bestehen besteht spielt spielen"
        " gespielt gewonnen gewinnt verloren unterrichten unterrichtet lehren aufgenommen"
        " gesungen singen behandelt gibt haben verdient verdienen geboren gegangen wurde"
        " besucht besuchen sprechen spricht gesprochen momentan derzeit aktuell"
    )
)
GERMAN = Language(
    name="german",
    roles=ROLES,
    stops=STOPS,
    light=LIGHT,
    months={
        name: number
        for number, names in enumerate(
            word_list(
                "januar februar märz april mai juni juli august september oktober november"
                " dezember"
            ),
            start=1,
        )
        for name in (names,)
    },
    numbers={
        name: number
        for number, name in enumerate(
            word_list(
                "null eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf"
            )
        )
    },
    units={
        **dict.fromkeys(("tag", "tage", "tagen"), "day"),
        **dict.fromkeys(("woche", "wochen"), "week"),
        **dict.fromkeys(("monat", "monate", "monaten", "monats"), "month"),
        **dict.fromkeys(("quartal", "quartale", "quartalen"), "quarter"),
        **dict.fromkeys(("jahr", "jahre", "jahren", "jahres"), "year"),
    },
    last=frozenset(
        (*_forms("letzt", "vergangen", "vorig"),),
    ),
    this=frozenset((*_forms("dies", "aktuell", "laufend"),)),
    next_=frozenset((*_forms("nächst", "kommend"),)),
    days={"heute": 0, "gestern": -1, "morgen": 1},
    names=frozenset(("name", "namen", "titel", "bezeichnung")),
    keys=frozenset(("id", "ids", "kennung", "kennungen", "nummer", "schlüssel")),
    telling=frozenset(("wann",)),
    prefixes={
        "durchschnitts": ("a", "avg"),
        "gesamt": ("a", "sum"),
        "mindest": ("a", "min"),
        "höchst": ("a", "max"),
        "maximal": ("a", "max"),
    },
)
