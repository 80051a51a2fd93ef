"""Names: the places, people, firms and projects of generated text. None of them occurs in its filling."""

from data.sets.generators.chance import Chance

_HEADS = (
    "Hal", "Brom", "Kest", "Vel", "Tarn", "Orl", "Gris", "Fen", "Lund", "Marl", "Ost", "Pell",
    "Quer", "Ros", "Skel", "Thorn", "Ulv", "Wend", "Yarl", "Zan",
)  # fmt: skip
_TAILS = ("den", "wick", "rel", "mark", "holt", "by", "ford", "stead", "mere", "low")
_FIRST = (
    "Ada", "Bruno", "Celia", "Dario", "Edith", "Farid", "Greta", "Hugo", "Ines", "Jonas", "Katya",
    "Leon", "Mira", "Nils", "Olga", "Pavel", "Rosa", "Simon", "Tilda", "Viktor",
)  # fmt: skip
_LAST = (
    "Abel", "Brandt", "Castell", "Dorn", "Ekholm", "Fabre", "Gallo", "Hartwig", "Iversen", "Jansky",
    "Kowal", "Lehmann", "Moreau", "Nyberg", "Orsini", "Petrov", "Quist", "Rinaldi", "Sato", "Toth",
)  # fmt: skip
_FIRMS = ("& Sons", "Brothers", "Trading", "Supplies", "Works")
_ZH_PLACES = (
    "青石", "白桥", "云溪", "东湾", "北坡", "南渡", "长亭", "清河", "松岭", "竹园", "石门", "金沙",
    "兰溪", "望江", "梅里", "桐山", "沙洲", "枫桥", "柳溪", "荷塘",
)  # fmt: skip
_ZH_FAMILY = ("陈", "林", "周", "吴", "郑", "孙", "许", "何", "吕", "沈", "韩", "曹")
_ZH_GIVEN = ("晓岚", "志远", "雨桐", "建国", "思琪", "浩然", "美玲", "文博", "海燕", "子轩")


class Names:
    """Names in an order of chance; none is given twice."""

    def __init__(self, chance: Chance) -> None:
        self._places = chance.shuffled([head + tail for head in _HEADS for tail in _TAILS])
        self._people = chance.shuffled([f"{first} {last}" for first in _FIRST for last in _LAST])
        self._firms = chance.shuffled([f"{last} {what}" for last in _LAST for what in _FIRMS])
        self._zh_places = chance.shuffled(
            [a + b for a in _ZH_PLACES for b in ("", "东", "西", "新")]
        )
        self._zh_people = chance.shuffled([a + b for a in _ZH_FAMILY for b in _ZH_GIVEN])

    def place(self, language: str = "en") -> str:
        """A place that no map has."""
        return (self._zh_places if language == "zh" else self._places).pop()

    def person(self, language: str = "en") -> str:
        """A person with first and last name."""
        return (self._zh_people if language == "zh" else self._people).pop()

    def firm(self) -> str:
        """A firm."""
        return self._firms.pop()
