"""Words that mean the same in most companies' databases, in both languages."""

from __future__ import annotations

from memory.sql.translator.words import roots, stem

GROUPS = """
customer client buyer kunde kundin
employee staff worker mitarbeiter angestellter beschäftigter personal
shop store laden geschäft filiale
country nation land
city town stadt
revenue turnover umsatz
order bestellung auftrag
product article item produkt artikel ware
price preis
cost kosten
amount betrag
quantity qty menge stückzahl
invoice bill rechnung
payment zahlung
supplier vendor lieferant
company firm business firma unternehmen
department dept abteilung
salary wage gehalt lohn
ticket
support
priority priorität
status state zustand
category kategorie
type kind sort typ art
date datum
year jahr
month monat
day tag
name title bezeichnung titel
email mail e-mail
phone telephone telefon telefonnummer
address adresse anschrift
street straße
age alter
birthday birthdate geburtsdatum geburtstag
weight gewicht
height höhe größe
length länge
size größe
capacity kapazität
color colour farbe
student schüler
teacher instructor lehrer professor
course class kurs
school schule
book buch
author writer autor
film movie
car vehicle automobile auto fahrzeug wagen
manufacturer maker producer hersteller
model modell
user member benutzer nutzer mitglied
owner besitzer eigentümer inhaber
dog hund
cat katze
pet haustier
song track lied
singer artist musician sänger künstler
stadium arena stadion
location place ort standort
region gebiet
population einwohner bevölkerung
language sprache
number nr num anzahl
description desc beschreibung
comment remark note bemerkung notiz
project projekt
contract vertrag
delivery lieferung
warehouse lager
stock bestand
discount rabatt
manager boss leiter
gender sex geschlecht
transaction tx txn transaktion buchung
account konto
zip zipcode postcode plz postleitzahl
flight flug
airport flughafen
segment branche
assignee bearbeiter
subject betreff
site standort
plan tarif
assessment rating score bewertung
"""


def _index() -> dict[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for line in GROUPS.strip().splitlines():
        words = {stem(word) for word in line.split()}
        for word in line.split():
            for form in (stem(word), *roots(word)):
                found.setdefault(form, set()).update(words - {stem(word)})
    return {word: frozenset(others) for word, others in found.items()}


SYNONYMS = _index()
