package charset

import (
	"strings"
	"testing"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/simplifiedchinese"

	"github.com/accrete-ml/accrete/internal/bounded"
)

// tables are what people keep, in their languages.
var tables = map[string]string{
	"Polish":     "Imię;Miasto;Kwota;Wynik\nMałgorzata;Łódź;1 234,50 zł;zły\nPaweł;Kraków;99,00 zł;dobry\nZofia;Gdańsk;5,10 zł;żaden\nWojciech;Wrocław;12,00 zł;dobry\n",
	"Czech":      "Jméno;Město;Částka\nJiří;Plzeň;12,50 Kč\nŠárka;Ústí nad Labem;9 Kč\nOndřej;Brno;8 Kč\nRůžena;Děčín;7,50 Kč\n",
	"Hungarian":  "Név;Város;Összeg\nGyörgy;Győr;1 200 Ft\nKatalin;Székesfehérvár;900 Ft\nErzsébet;Kőszeg;12 Ft\nLászló;Hódmezővásárhely;7 Ft\n",
	"Slovak":     "Meno;Mesto;Stav\nĽubica;Košice;dlžná\nJán;Žilina;zaplatené\nKatarína;Spišská Nová Ves;vrátené\n",
	"Russian":    "Имя;Город;Ответ\nИван;Москва;да\nОльга;Казань;нет\nСергей;Тверь;да\n",
	"Ukrainian":  "Ім'я;Місто;Відповідь\nІван;Київ;так\nОлена;Львів;ні\nСергій;Вінниця;так\n",
	"Greek":      "Όνομα;Πόλη;Απάντηση\nΓιώργος;Αθήνα;ναι\nΜαρία;Πάτρα;όχι\nΝίκος;Βόλος;ναι\n",
	"Turkish":    "Ad;Şehir;Sonuç\nAyşe;İstanbul;iyi\nOğuz;Muğla;kötü\nIşık;Eskişehir;iyi\nÇağrı;Diyarbakır;kötü\n",
	"German":     "Name;Straße;Betrag;Urteil\nMüller;Gässchen 4;12,50 €;gut\nJäger;Köhlerweg;7,00 €;übel\n",
	"French":     "Nom;Ville;Montant;Décision\nHélène;Orléans;12,50 €;accepté\nFrançois;Besançon;7 €;refusé\nZoé;Évry;1 €;refusé\n",
	"Spanish":    "Nombre;Ciudad;Importe\nMuñoz;Córdoba;12,50 €\nGarcía;Málaga;7,00 €\nNúñez;León;3 €\n",
	"Swedish":    "Namn;Ort;Belopp\nÅsa;Malmö;12,50 kr\nBjörn;Västerås;7 kr\nMärta;Örebro;1 kr\n",
	"Lithuanian": "Vardas;Miestas;Atsakymas\nŽydrūnas;Šiauliai;taip\nRūta;Panevėžys;ne\nGražina;Mažeikiai;taip\nEglė;Kėdainiai;ne\n",
	"Money":      "item,price\na,€ 12.50\nb,€ 7.00\nc,£ 3.00\n",
	"Names":      "name,age\nZoë,3\nNiño,4\nBrönte,5\nSmith,6\n",
}

// Read rightly, a table is in the encoding that it was written in; of those that
// say the same by all its letters, in the usual one.
func TestFind(t *testing.T) {
	for _, test := range []struct {
		language string
		in       *charmap.Charmap
		want     string
	}{
		{"Polish", charmap.Windows1250, "Windows-1250"}, {"Polish", charmap.ISO8859_2, "ISO-8859-2"}, {"Polish", charmap.CodePage852, "IBM852"},
		{"Czech", charmap.Windows1250, "Windows-1250"}, {"Czech", charmap.ISO8859_2, "ISO-8859-2"}, {"Czech", charmap.CodePage852, "IBM852"},
		{"Hungarian", charmap.Windows1250, "Windows-1250"}, {"Slovak", charmap.Windows1250, "Windows-1250"},
		{"Russian", charmap.Windows1251, "Windows-1251"}, {"Russian", charmap.KOI8R, "KOI8-R"}, {"Russian", charmap.CodePage866, "IBM866"}, {"Russian", charmap.ISO8859_5, "ISO-8859-5"},
		{"Ukrainian", charmap.Windows1251, "Windows-1251"}, {"Ukrainian", charmap.KOI8U, "KOI8-U"},
		{"Greek", charmap.Windows1253, "Windows-1253"}, {"Turkish", charmap.Windows1254, "Windows-1254"}, {"Lithuanian", charmap.Windows1257, "Windows-1257"},
		{"German", charmap.Windows1252, "Windows-1252"}, {"German", charmap.Macintosh, "Macintosh"}, {"French", charmap.Windows1252, "Windows-1252"}, {"French", charmap.Macintosh, "Macintosh"},
		{"Spanish", charmap.Windows1252, "Windows-1252"}, {"Swedish", charmap.Windows1252, "Windows-1252"}, {"Swedish", charmap.CodePage850, "IBM850"},
		{"Money", charmap.Windows1252, "Windows-1252"}, {"Names", charmap.Windows1252, "Windows-1252"},
	} {
		text, err := test.in.NewEncoder().String(tables[test.language])
		if err != nil {
			t.Fatal(test.language, err)
		}
		for _, times := range []int{1, 3000} {
			got, ok := Find([]byte(strings.Repeat(text, times)), true)
			if !ok || got.Name != test.want {
				t.Errorf("%s in %v, %d times: %+v, %v, expected %s", test.language, test.in, times, got, ok, test.want)
			}
			if back, n := got.Recoder()(nil, []byte(text), true); ok && (n != len(text) || string(back) != tables[test.language]) {
				t.Errorf("%s in %v: %q", test.language, test.in, back)
			}
		}
	}
}

// What is UTF-8, damaged UTF-8, no text, or of more bytes a letter is found to be
// none of them.
func TestFindNone(t *testing.T) {
	chinese, err := simplifiedchinese.GBK.NewEncoder().String("城市;金额;答案\n北京;12;是的\n上海;7;不是\n广州;3;是的\n深圳;4;没有\n")
	if err != nil {
		t.Fatal(err)
	}
	noise := make([]byte, 2000)
	for i, x := 0, uint32(7); i < len(noise); i++ {
		x = x*1664525 + 1013904223
		noise[i] = byte(x >> 24)
	}
	for name, text := range map[string]string{
		"ASCII": "a,b\n1,2\n", "UTF-8": tables["Polish"], "cut UTF-8": "caf\xc3", "damaged UTF-8": "café\ncaf\xc3\n", "one byte": "caf\xff", "noise": string(noise), "Chinese": chinese,
	} {
		if got, ok := Find([]byte(text), name != "cut UTF-8"); ok {
			t.Errorf("%s is found to be %v", name, got)
		}
	}
}

func TestNamed(t *testing.T) {
	for _, name := range []string{"windows-1250", "cp1250", "CP1250", "1250", "latin2", "Latin-2", "ISO-8859-2", "iso8859_15", "latin1", "koi8-r", "cp866", "cp850", "CP437", "mac-roman", "macintosh", "shift_jis", "gbk", "big5", "euc-kr", "utf-8", "UTF8", "utf-16le"} {
		if _, err := Named(name); err != nil {
			t.Error(name, err)
		}
	}
	if _, err := Named("windos-1250"); err == nil || !strings.Contains(err.Error(), `did you mean "windows-1250"`) {
		t.Error(err)
	}
	gbk, err := Named("gbk")
	if err != nil {
		t.Fatal(err)
	}
	recode := gbk.Recoder()
	text, taken := recode(nil, []byte{0xb1, 0xb1, 0xbe}, false)
	if string(text) != "北" || taken != 2 {
		t.Errorf("%q, %d", text, taken)
	}
	if text, taken = recode(nil, []byte{0xbe, 0xa9}, true); string(text) != "京" || taken != 2 {
		t.Errorf("%q, %d", text, taken)
	}
}

// Whatever the bytes are, finding an encoding ends, and what is found reads them.
func FuzzFind(f *testing.F) {
	f.Add([]byte("caf\xe9;\x80 5"), true)
	f.Fuzz(func(t *testing.T, text []byte, ended bool) {
		defer bounded.Start(t, len(text))()
		set, ok := Find(text, ended)
		if !ok {
			return
		}
		if back, n := set.Recoder()(nil, text, true); n != len(text) || !strings.ContainsFunc(string(back), func(r rune) bool { return r > 127 }) {
			t.Errorf("%v: %d of %d bytes, %q", set, n, len(text), back)
		}
	})
}
