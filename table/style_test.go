package table

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/accrete-ml/accrete/internal/bounded"
)

// TestStyles reads what people write: each column as its cells tell, the rest by
// the other columns, and always said.
func TestStyles(t *testing.T) {
	for _, test := range []struct {
		name, text, want string
		options          Options
		notes            []string
	}{
		{name: "thousands and decimals", text: "a;b\n1.234,50;x\n12,5;y\n7;z\n", want: "a b{x,y,z} | 1234.5 x | 12.5 y | 7 z", notes: []string{`column "a": "1.234,50" is read as 1234.5`}},
		{name: "spaces and quotes between thousands", text: "a,b\n1 234 567,1'234.5\n12,7\n", want: "a b | 1234567 1234.5 | 12 7", notes: []string{`column "a": "1 234 567" is read as 1234567`, `column "b": "1'234.5" is read as 1234.5`}},
		{name: "money", text: "a,b,c\n€ 12.50,-$3,(1.50)\n7.00 €,$12,2\n", want: "a b c | 12.5 -3 -1.5 | 7 12 2", notes: []string{`column "a": "€ 12.50" is read as 12.5`, `column "b": "-$3" is read as -3`, `column "c": "(1.50)" is read as -1.5`}},
		{name: "two currencies are not to be compared", text: "a\n€ 5\n$ 6\n", want: "a{$ 6,€ 5} | € 5 | $ 6", notes: []string{`column "a" is read as names: "€ 5" and "$ 6" are of different currencies, which cannot be compared; write them in one`}},
		{name: "one currency by two names", text: "a\n$ 5\nUS$ 6\n7 USD\n", want: "a | 5 | 6 | 7", notes: []string{`column "a": "US$ 6" is read as 6`}},
		{name: "Windows-1252", text: "na\xefve;Betrag\ncaf\xe9;12,50 \x80\nth\xe9;7 \x80\n", want: "naïve{café,thé} Betrag | café 12.5 | thé 7", notes: []string{"the text is no UTF-8, and is read as Windows-1252; another encoding can be named", `column "Betrag": "12,50 €" is read as 12.5`}},
		{name: "Windows-1250", text: "Mi\xeasto;Kwota\n\xa3\xf3d\x9f;12,50 z\xb3\nPozna\xf1;7 z\xb3\n", want: "Mięsto{Poznań,Łódź} Kwota | Łódź 12.5 | Poznań 7", notes: []string{"the text is no UTF-8, and is read as Windows-1250 (Central European letters); another encoding can be named", `column "Kwota": "12,50 zł" is read as 12.5`}},
		{name: "an encoding that was said", text: "a;b\n\xe9;1\n", options: Options{Encoding: "cp866"}, want: "a{щ} b | щ 1"},
		{name: "an encoding that nobody knows", text: "a;b\n\xe9;1\n", options: Options{Encoding: "windos-1251"}, want: "error encoding \"windos-1251\" is not known; did you mean \"windows-1251\"?"},
		{name: "UTF-16, as spreadsheets write Unicode text", text: "\xff\xfea\x00\t\x00b\x00\r\x00\n\x00\xe9\x00\t\x001\x00\r\x00\n\x00\x3d\xd8\x00\xde\t\x002\x00", want: "a{é,😀} b | é 1 | 😀 2", notes: []string{"the text is UTF-16, and is read as that"}},
		{name: "UTF-16 the other way round", text: "\xfe\xff\x00a\x00\n\x001\x00\n\x002", want: "a | 1 | 2", notes: []string{"the text is UTF-16, and is read as that"}},
		{name: "per cent beside shares", text: "a\n60%\n0.5\n7%\n", want: "a | 60 | 0.5 | 7", notes: []string{`column "a": "60%" and "0.5" are read as 60 and 0.5, though the second may be a share of 1; write them in one way`}},
		{name: "a word among few numbers", text: "a\n" + strings.Repeat("1\n2\n", 10) + "two\n", want: "a{1,2,two} | " + strings.Repeat("1 | 2 | ", 10) + "two", notes: []string{`column "a" is read as names because of "two" (row 21): its other 2 values are numbers; declared missing, two is no value`}},
		{name: "per cent", text: "a;b\n12,5 %;x\n7%;y\n", want: "a b{x,y} | 12.5 x | 7 y", notes: []string{`column "a": "12,5 %" is read as 12.5`}},
		{name: "thousands, as nothing tells", text: "a,b\n\"1,234\",x\n\"5,678\",y\n", want: "a b{x,y} | 1234 x | 5678 y", notes: []string{`column "a": "1,234" is read as 1234, with thousands, which no cell tells; with decimals a=, it is read otherwise`}},
		{name: "decimals, as another column tells", text: "a\tb\n1,234\t0,5\n5,678\t1,5\n", want: "a b | 1.234 0.5 | 5.678 1.5", notes: []string{`column "a": "1,234" is read as 1.234, with decimals, which no cell tells; with decimals a=. it is read otherwise`, `column "b": "0,5" is read as 0.5`}},
		{name: "thousands with points, as another column tells", text: "a\tb\n1.234\t0,5\n5.678\t1,5\n9.000\t2,5\n", want: "a b | 1234 0.5 | 5678 1.5 | 9000 2.5", notes: []string{`column "a": "1.234" is read as 1234, with thousands, which no cell tells; with decimals a=. it is read otherwise`, `column "b": "0,5" is read as 0.5`}},
		{name: "thousands, as hundreds beside them tell", text: "a,b\n850,x\n1.250,y\n12.000,z\n", want: "a b{x,y,z} | 850 x | 1250 y | 12000 z", notes: []string{`column "a": "12.000" is read as 12000`}},
		{name: "thousands and hundreds, as another column tells", text: "a;b\n850;0,5\n1.234;1,5\n5.678;2,5\n", want: "a b | 850 0.5 | 1234 1.5 | 5678 2.5", notes: []string{`column "a": "1.234" is read as 1234, with thousands, which no cell tells; with decimals a=. it is read otherwise`, `column "b": "0,5" is read as 0.5`}},
		{name: "decimals beside decimals, though some are round", text: "a,b\n850,0.5\n1.250,1.5\n12.000,2.5\n", want: "a b | 850 0.5 | 1.25 1.5 | 12 2.5"},
		{name: "words for what is not known, and a sum below", text: "a;b\n1;x\nbrak;y\nн/д;x\nkeine Angabe;y\n5;x\nSumme:;\n", want: "a b{x,y} | 1 x | - y | - x | - y | 5 x | - -", notes: []string{`column "a": "brak", "н/д", "keine Angabe", "Summe:" are read as missing`}},
		{name: "only empty cells are missing, as was said", text: "a,b\n1,x\nnil,y\n3,z\n4,z\n5,z\n6,z\n", options: Options{Missing: []string{""}}, want: "a{1,3,4,5,6,nil} b{x,y,z} | 1 x | nil y | 3 z | 4 z | 5 z | 6 z", notes: []string{`column "a" is read as names because of "nil" (row 2): its other 5 values are numbers; declared missing, nil is no value`}},
		{name: "decimals with points, as nothing tells", text: "a,b\n1.234,x\n5.678,y\n9.000,z\n", want: "a b{x,y,z} | 1.234 x | 5.678 y | 9 z", notes: []string{`column "a": "1.234" is read with decimals, which no cell tells; with decimals a=, it is read otherwise`}},
		{name: "decimal comma, as was said", text: "a,b\n1.234,x\n5.678,y\n9.000,z\n", options: Options{Decimal: ","}, want: "a b{x,y,z} | 1234 x | 5678 y | 9000 z"},
		{name: "decimal point, as was said", text: "a;b\n1,234;x\n5,678;y\n", options: Options{Decimal: "."}, want: "a b{x,y} | 1234 x | 5678 y"},
		{name: "day first", text: "d,e\n31.12.2024,3-Mar-24\n01.02.2023,14-Nov-99\n", want: "d:date e:date | 2024-12-31 2024-03-03 | 2023-02-01 1999-11-14", notes: []string{`column "d": "31.12.2024" is read as 2024-12-31`, `column "e": "3-Mar-24" is read as 2024-03-03`}},
		{name: "month first", text: "d\n12/31/2024\n1/2/2024 2:30 PM\n", want: "d:time | 2024-12-31T00:00:00 | 2024-01-02T14:30:00", notes: []string{`column "d": "12/31/2024" is read as 2024-12-31T00:00:00`}},
		{name: "no cell tells, days lie closer", text: "d\n01/02/2024\n02/02/2024\n03/02/2024\n", want: "d:date | 2024-02-01 | 2024-02-02 | 2024-02-03", notes: []string{`column "d": "01/02/2024" is read as 2024-02-01, which no cell tells; with dates d=mdy it is read otherwise`}},
		{name: "no cell tells, another column does", text: "d,e\n01/02/2024,13/01/2024\n02/07/2024,01/01/2024\n", want: "d:date e:date | 2024-02-01 2024-01-13 | 2024-07-02 2024-01-01", notes: []string{`column "d": "01/02/2024" is read as 2024-02-01, which no cell tells; with dates d=mdy it is read otherwise`, `column "e": "13/01/2024" is read as 2024-01-13`}},
		{name: "month first, as was said", text: "d\n01/02/2024\n02/02/2024\n", options: Options{Date: "mm/dd/yyyy"}, want: "d:date | 2024-01-02 | 2024-02-02"},
		{name: "no dates but ISO", text: "d\n01.02.2024\n02.02.2024\n", options: Options{Date: "iso"}, want: "d{01.02.2024,02.02.2024} | 01.02.2024 | 02.02.2024"},
		{name: "each column as was said", text: "a;b;d;e\n1.234;1.234;01/02/2024;01/02/2024\n5.678;5.678;02/02/2024;02/02/2024\n", options: Options{Decimal: ".\nb=,", Date: "e=dmy\nd=mdy"}, want: "a b d:date e:date | 1.234 1234 2024-01-02 2024-02-01 | 5.678 5678 2024-02-02 2024-02-02", notes: []string{`column "b": "1.234" is read as 1234`}},
		{name: "dates of digits, as was said", text: "a;b\n20240301;01032024\n19991231;31121999\n", options: Options{Date: "a=ymd\nb=dmy"}, want: "a:date b:date | 2024-03-01 2024-03-01 | 1999-12-31 1999-12-31"},
		{name: "dates of digits, unsaid", text: "a\n20240301\n19991231\n", options: Options{Date: "ymd"}, want: "a | 20240301 | 19991231"},
		{name: "months in German", text: "d\n12. März 2024\n3. Dez. 1999\n1. Mai 2023\n", want: "d:date | 2024-03-12 | 1999-12-03 | 2023-05-01", notes: []string{`column "d": "12. März 2024" is read as 2024-03-12`}},
		{name: "months in French", text: "d\n1er août 2024\n3 févr. 1999\n14 juillet 2023 18:30\n", want: "d:time | 2024-08-01T00:00:00 | 1999-02-03T00:00:00 | 2023-07-14T18:30:00", notes: []string{`column "d": "1er août 2024" is read as 2024-08-01T00:00:00`}},
		{name: "months in Spanish", text: "d\n12 de marzo de 2024\n3 ene 1999\n30-sept-23\n", want: "d:date | 2024-03-12 | 1999-01-03 | 2023-09-30", notes: []string{`column "d": "12 de marzo de 2024" is read as 2024-03-12`}},
		{name: "months in Italian", text: "d\n12 giugno 2024\n3 gen. 1999\n30/dic/2023\n", want: "d:date | 2024-06-12 | 1999-01-03 | 2023-12-30", notes: []string{`column "d": "12 giugno 2024" is read as 2024-06-12`}},
		{name: "months in Dutch", text: "d\n12 mrt 2024\n3 mei 1999\n30 oktober 2023\n", want: "d:date | 2024-03-12 | 1999-05-03 | 2023-10-30", notes: []string{`column "d": "12 mrt 2024" is read as 2024-03-12`}},
		{name: "months in English", text: "d;e\nMarch 1st, 2024;x\nMay 22nd, 1999;y\n", want: "d:date e{x,y} | 2024-03-01 x | 1999-05-22 y", notes: []string{`column "d": "March 1st, 2024" is read as 2024-03-01`}},
		{name: "months in Polish and Russian", text: "d;e\n12 października 2024;3 мая 2024 г.\n3 maja 1999;12 сент. 1999\n", want: "d:date e:date | 2024-10-12 2024-05-03 | 1999-05-03 1999-09-12", notes: []string{`column "d": "12 października 2024" is read as 2024-10-12`, `column "e": "3 мая 2024 г." is read as 2024-05-03`}},
		{name: "weekdays", text: "d;x\nSun, 21 Jan 2018 01:04:00 +0200;a\nMar, 23 Jan 2018;b\n", want: "d:time x{a,b} | 2018-01-20T23:04:00 a | 2018-01-23T00:00:00 b", notes: []string{`column "d": "Sun, 21 Jan 2018 01:04:00 +0200" is read as 2018-01-20T23:04:00`}},
		{name: "days in Chinese", text: "d;x\n2024年3月9日;a\n2023年12月1日;b\n", want: "d:date x{a,b} | 2024-03-09 a | 2023-12-01 b", notes: []string{`column "d": "2024年3月9日" is read as 2024-03-09`}},
		{name: "months of years", text: "a;b;c;d\nFeb 2024;2024-02;02/2024;2024年2月\ndic.-2023;2023-12;12/2023;2023年12月\n", want: "a:date b:date c:date d:date | 2024-02-01 2024-02-01 2024-02-01 2024-02-01 | 2023-12-01 2023-12-01 2023-12-01 2023-12-01", notes: []string{`column "a": "Feb 2024" is read as 2024-02-01`, `column "b": "2024-02" is read as 2024-02-01`, `column "c": "02/2024" is read as 2024-02-01`, `column "d": "2024年2月" is read as 2024-02-01`}},
		{name: "no months of years", text: "a;b\n14/2024;2024/02\n3/100;May 24\n", want: "a{14/2024,3/100} b{2024/02,May 24} | 14/2024 2024/02 | 3/100 May 24"},
		{name: "times of day by words", text: "a;b\n22h30;4:05 p. m.\n7h05;12:10 a.m.\n", want: "a:time b:time | 22:30 16:05 | 07:05 00:10", notes: []string{`column "a": "22h30" is read as a time of day`, `column "b": "4:05 p. m." is read as a time of day`}},
		{name: "no month", text: "d\n3 jui 2024\n12 xyz 2023\n", want: "d{12 xyz 2023,3 jui 2024} | 3 jui 2024 | 12 xyz 2023"},
		{name: "times of day", text: "t\n9:05\n14:30:15\n", want: "t:time | 09:05 | 14:30:15", notes: []string{`column "t": "9:05" is read as a time of day`}},
		{name: "missing among numbers", text: "a\nN/A\n1\n-\nnone\nNULL\n?\nunknown\n2\n", want: "a | - | 1 | - | - | - | - | - | 2", notes: []string{`column "a": "N/A", "-", "none", "unknown" are read as missing`}},
		{name: "missing among names", text: "a,b\nx,1\nn/a,2\n-,3\ny,4\n", want: "a{x,y} b | x 1 | - 2 | - 3 | y 4", notes: []string{`column "a": "-", "n/a" are read as missing`}},
		{name: "none is a name among names", text: "a\nnone\nx\ny\n", want: "a{none,x,y} | none | x | y"},
		{name: "none is missing, as was said", text: "a\nnone\nx\n999\n", options: Options{Missing: []string{"none", "999"}}, want: "a{x} | - | x | -"},
		{name: "only empty cells are missing", text: "a,b\nNA,1\nx,\n?,2\n", options: Options{Missing: []string{""}}, want: "a{?,NA,x} b | NA 1 | x - | ? 2"},
		{name: "NA is a country", text: "a,b\nNA,1\nDE,2\nFR,3\n,4\n", want: "a{DE,FR,NA} b | NA 1 | DE 2 | FR 3 | - 4", notes: []string{`column "a": "NA" is kept as a name; declared missing, NA is no value`}},
		{name: "signs", text: "a\n+\n-\n+\n", want: "a{+,-} | + | - | +", notes: []string{`column "a": "-" is kept as a name; declared missing, - is no value`}},
		{name: "a few odd cells", text: "a\n1\n2\n3\n4\n5\n6\nabc\n8\n", want: "a{1,2,3,4,5,6,8,abc} | 1 | 2 | 3 | 4 | 5 | 6 | abc | 8", notes: []string{`column "a" is read as names because of "abc" (row 7): its other 7 values are numbers; declared missing, abc is no value`}},
		{name: "no header, and no number", text: "yes,red\nno,blue\nyes,blue\nno,red\n", want: "c1{no,yes} c2{blue,red} | yes red | no blue | yes blue | no red", notes: []string{"no header line: the columns are called c1 to c2"}},
		{name: "no header, decimal commas", text: "1,5;x\n2,5;y\n", want: "c1 c2{x,y} | 1.5 x | 2.5 y", notes: []string{"no header line: the columns are called c1 to c2", `column "c1": "1,5" is read as 1.5`}},
		{name: "no header, as was said", text: "a,b\nx,y\n", options: Options{NoHeader: new(true)}, want: "c1{a,x} c2{b,y} | a b | x y", notes: []string{"no header line: the columns are called c1 to c2"}},
		{name: "titles above the table", text: "Sales 2024\n\nwritten 2024-05-01\na;b;c\n1,5;x;2\n2,5;y;3\n", want: "a b{x,y} c | 1.5 x 2 | 2.5 y 3", notes: []string{`what stands above the table is passed over: "Sales 2024"; unless the first line is said to name the columns`, `column "a": "1,5" is read as 1.5`}},
		{name: "titles with as many commas", text: "Sales,,\n,,\na,b,c\n1,x,2\n2,y,3\n", want: "a b{x,y} c | 1 x 2 | 2 y 3", notes: []string{`what stands above the table is passed over: "Sales"; unless the first line is said to name the columns`}},
		{name: "texts with commas are no table below a title", text: "text\nYes, or no, or both\nWell, I, we\nNo, not, now\n", options: Options{NoHeader: new(false), Delimiter: ";"}, want: "text{No, not, now,Well, I, we,Yes, or no, or both} | Yes, or no, or both | Well, I, we | No, not, now"},
		{name: "a header of numbers, as was said", text: "1,2\n3,4\n", options: Options{NoHeader: new(false)}, want: "1 2 | 3 4"},
		{name: "a delimiter that was said", text: "a:b\n1:2\n", options: Options{Delimiter: ":"}, want: "a b | 1 2"},
		{name: "numeric, as was said", text: "a\nx 1\n1\n", options: Options{Numeric: []string{"a"}}, want: "error x.csv:2:1: column \"a\": \"x 1\" is neither a number nor a date such as 2024-03-01; correct the cell, or leave it empty if it is not known"},
		{name: "numeric with a style", text: "a;b\n1,5;1\n12;2\n", options: Options{Numeric: []string{"a"}}, want: "a b | 1.5 1 | 12 2", notes: []string{`column "a": "1,5" is read as 1.5`}},
	} {
		t.Run(test.name, func(t *testing.T) {
			for _, block := range []int{0, 7} {
				test.options.tuning.block = block
				got, report, err := read(t, "x.csv", test.text, test.options)
				if err != nil {
					if err.Error() != strings.TrimPrefix(test.want, "error ") {
						t.Errorf("error %v", err)
					}
					continue
				}
				if show(got) != test.want || !slices.Equal(report.Notes, test.notes) {
					t.Errorf("got  %s %q\nwant %s %q", show(got), report.Notes, test.want, test.notes)
				}
			}
		})
	}
}

// TestModelsReadTheirStyle: rows that come later are read as the first ones were,
// though their own file looks otherwise; what contradicts it is an error.
func TestModelsReadTheirStyle(t *testing.T) {
	first, _ := mustRead(t, "x.csv", "n;d;c;k\n1.234,5;31.12.2024;DE;1.000\n0,5;01.02.2024;FR;2.000\n", Options{Target: "k", Missing: []string{"999"}})
	saved, err := LoadColumns(SaveColumns(first.Schema))
	if err != nil {
		t.Fatal(err)
	}
	got, _ := mustRead(t, "y.csv", "n;d;c;k\n1.234;03.04.2024;NA;1.000\n€ 7;n/a;DE;2000\n999;-;n/a;\n", Options{Schema: saved, Extend: true})
	if want := "n d:date c{DE,FR,NA} k{1000,2000} | 1234 2024-04-03 NA 1000 | 7 - DE 2000 | - - - -"; show(got) != want {
		t.Errorf("got  %s\nwant %s", show(got), want)
	}
	if _, _, err := read(t, "y.csv", "n;d;c;k\n12.5;03.04.2024;NA;1\n", Options{Schema: saved}); err == nil || !strings.Contains(err.Error(), `column "n": "12.5" is not a number`) {
		t.Errorf("error %v", err)
	}
	if got, _ = mustRead(t, "y.csv", "n;d;c;k\n12.5;03/04/2024;DE;1000\n", Options{Schema: saved, Decimal: ".", Date: "mdy"}); got.Text(0, 0) != "12.5" || got.Text(0, 1) != "2024-03-04" {
		t.Errorf("%s", show(got))
	}
}

// Numbers that are left out because they only number the rows.
func TestSerialNumbers(t *testing.T) {
	text := func(name string, number func(i int) int) string {
		return name + ",x,y\n" + rows(60, func(i int) string { return fmt.Sprintf("%d,%d,%d", number(i), i*i%17, i%2) })
	}
	for _, test := range []struct {
		name   string
		number func(i int) int
		out    bool
	}{
		{"id", func(i int) int { return 1000 - 7*i }, true},
		{"customerID", func(i int) int { return i * i }, true},
		{"patient_id", func(i int) int { return i / 2 }, false},
		{"row 1 to n", func(i int) int { return i + 1 }, true},
		{"year", func(i int) int { return i + 1 }, false},
		{"gaps", func(i int) int { return i + i/9 }, false},
	} {
		got, report := mustRead(t, "x.csv", text(test.name, test.number), Options{})
		if out := got.Schema.Index(test.name) < 0; out != test.out || out != slices.Contains(report.IDs, test.name) {
			t.Errorf("%s: left out %v, %v", test.name, out, report.Notes)
		}
		if got, _ = mustRead(t, "x.csv", text(test.name, test.number), Options{Numeric: []string{test.name}}); got.Schema.Index(test.name) != 0 {
			t.Errorf("%s was left out though it is wanted", test.name)
		}
	}
}

// TestNumbersInEveryStyle: what is written with thousands apart and either mark
// reads back to the same number.
func TestNumbersInEveryStyle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cents := rapid.Int64Range(-1e12, 1e12).Draw(t, "cents")
		x := float64(cents) / 100
		plain := fmt.Sprintf("%.2f", math.Abs(x))
		whole, fraction, _ := strings.Cut(plain, ".")
		for _, style := range []Style{Comma, Point} {
			group := map[Style]string{Comma: ".", Point: ","}[style]
			text := whole
			for at := len(text) - 3; at > 0; at -= 3 {
				text = text[:at] + group + text[at:]
			}
			if text += string(style) + fraction; x < 0 {
				text = "-" + text
			}
			text = rapid.SampledFrom([]string{"", "€ ", "CHF "}).Draw(t, "before") + text + rapid.SampledFrom([]string{"", " "}).Draw(t, "after")
			if got, ok := style.ParseNumber(text); !ok || got != x {
				t.Fatalf("%q is %v (%v), expected %v", text, got, ok, x)
			}
		}
	})
}

// TestAmountsInEveryStyle: as books, banks and spreadsheets write amounts.
func TestAmountsInEveryStyle(t *testing.T) {
	for _, test := range []struct {
		style Style
		text  string
		want  float64 // NA for no number
	}{
		{Point, "$(1,234.50)", -1234.5}, {Point, "($1,234.50)", -1234.5}, {Point, "(1,234.50)", -1234.5}, {Point, "(5)", NA}, {Point, "-(5.0)", NA}, {Point, "((5.0))", NA},
		{Comma, "1.234,50-", -1234.5}, {Comma, "1.234,50- EUR", -1234.5}, {Point, "5-", NA}, {Point, "--5", NA},
		{Point, "Fr. 200.–", 200}, {Comma, "200,-", 200}, {Comma, "1.200,-- €", 1200}, {Point, ".-", NA},
		{Comma, "R$ 1.234,50", 1234.5}, {Point, "A$1,234.50", 1234.5}, {Comma, "1 234,50 Kč", 1234.5}, {Comma, "1 234,50 руб.", 1234.5}, {Comma, "kr. 12,50", 12.5}, {Point, "₩1,234", 1234}, {Point, "₿1.5", 1.5},
		{Point, "₹12,34,567.50", 1234567.5}, {Point, "1,23,45", NA}, {Comma, "1,5e+03", 1500}, {Point, "1,582e+03", NA}, {Point, "5 apples", NA}, {Point, "room 5", NA},
	} {
		if got, ok := test.style.ParseNumber(test.text); ok == math.IsNaN(test.want) || ok && got != test.want {
			t.Errorf("%q is %v (%v), expected %v", test.text, got, ok, test.want)
		}
	}
	mixed := "a;b\nUS$ 5;€ 5\nUSD 7;A$ 6\n"
	got, report := mustRead(t, "x.csv", mixed, Options{})
	if want := "a b{A$ 6,€ 5} | 5 € 5 | 7 A$ 6"; show(got) != want {
		t.Errorf("got %s %q, expected %s", show(got), report.Notes, want)
	}
}

// FuzzStyles: any text is read or not, in any style, and what is read is a
// number.
func FuzzStyles(f *testing.F) {
	for _, s := range []string{"1.234,50 €", "(3,5 %)", "31.12.2024 14:30", "3-Mar-24", "2:30 pm", "−1’234.5", "dd.mm.yyyy", "$(1,2.3)-", "Fr. 2.–", "Mo, 1年2月3日", "Sun, 21 Jan 2018 01:04:00 +0200", "May 2024", "22h5 Uhr"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		defer bounded.Start(t, len(s))()
		for _, style := range []Style{"", Comma, Point, DayFirst, MonthFirst, YearFirst, Clock} {
			if x, ok := style.ParseNumber(s); ok && x != x {
				t.Errorf("%q is no number in style %q", s, style)
			}
			if x, ok := style.ParseDate(s); ok && x != x {
				t.Errorf("%q is no date in style %q", s, style)
			}
		}
		if order, ok := ParseOrder(s); ok && order != "iso" && !slices.Contains(orders[:], order) {
			t.Errorf("%q is the order %q", s, order)
		}
	})
}

func TestStylesGrow(t *testing.T) {
	for _, piece := range []string{"1.", "(", "12/"} {
		bounded.Worst(t, func(size int) []byte { return []byte(strings.Repeat(piece, size/len(piece))) }, func(b []byte) {
			s := string(b)
			Comma.ParseNumber(s)
			DayFirst.ParseDate(s)
			ParseOrder(s) // table.ParseOrder
		})
	}
}

// TestMessyFile reads the file that the documentation shows.
func TestMessyFile(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "docs", "how-to", "data", "customers.csv"))
	if err != nil {
		t.Fatal(err)
	}
	got, _ := mustRead(t, "customers.csv", string(text), Options{Target: "Kündigung"})
	var kinds []string
	for i := range got.Schema.Attributes {
		kinds = append(kinds, got.Schema.Attributes[i].Name+" "+got.Schema.Attributes[i].Shown())
	}
	if want := "Land nominal, Alter numeric, Umsatz numeric, Rabatt numeric, Beitritt date, Anruf time, Zahlung nominal, Garage nominal, Mandant nominal, Saldo numeric, Kündigung nominal"; strings.Join(kinds, ", ") != want {
		t.Errorf("%s", strings.Join(kinds, ", "))
	}
}
