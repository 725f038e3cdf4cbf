package xlsx

import (
	"archive/zip"
	"bytes"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/internal/bounded"
)

// workbook packs parts.
func workbook(tb testing.TB, parts map[string]string) []byte {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for name, text := range parts {
		f, err := z.Create(name)
		if err == nil {
			_, err = io.WriteString(f, text)
		}
		if err != nil {
			tb.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		tb.Fatal(err)
	}
	return b.Bytes()
}

// clinic is a workbook of two sheets: one as people keep them, with a title, a
// header of two rows, dates, per cent, a formula's text, an error and a gap.
var clinic = map[string]string{
	"xl/workbook.xml":            `<workbook><sheets><sheet name="Q1 2024" sheetId="1" r:id="a"/><sheet name="old" sheetId="2" r:id="b"/></sheets></workbook>`,
	"xl/_rels/workbook.xml.rels": `<Relationships><Relationship Id="a" Target="worksheets/one.xml"/><Relationship Id="b" Target="/xl/worksheets/two.xml"/></Relationships>`,
	"xl/styles.xml": `<styleSheet><numFmts><numFmt numFmtId="164" formatCode="dd\.mm\.yyyy;@"/><numFmt numFmtId="165" formatCode="[Red]0.0&quot;days&quot;"/></numFmts>` +
		`<cellStyleXfs><xf numFmtId="14"/></cellStyleXfs><cellXfs><xf numFmtId="0"/><xf numFmtId="164"/><xf numFmtId="10"/><xf numFmtId="20"/><xf numFmtId="165"/><xf numFmtId="22"/></cellXfs></styleSheet>`,
	"xl/sharedStrings.xml": `<sst><si><t>Visits</t></si><si><t>patient</t></si><si><r><t>blood </t></r><r><t>pressure</t></r><rPh><t>no</t></rPh></si><si><t>ann, "A"</t></si></sst>`,
	"xl/worksheets/one.xml": `<worksheet><sheetData>` +
		`<row r="1"><c r="A1" t="s"><v>0</v></c></row>` +
		`<row r="3"><c r="A3" t="s"><v>1</v></c><c r="B3" t="s"><v>2</v></c><c r="D3" t="inlineStr"><is><t>day</t></is></c><c r="E3" t="inlineStr"><is><t>share</t></is></c><c r="F3" t="inlineStr"><is><t>at</t></is></c><c r="G3" t="inlineStr"><is><t>n</t></is></c></row>` +
		`<row r="4"><c r="B4" t="str"><v>high</v></c><c r="C4" t="str"><v>low</v></c></row>` +
		`<row r="5"><c r="A5" t="s"><v>3</v></c><c r="B5"><v>120</v></c><c r="C5"><v>80.5</v></c><c r="D5" s="1"><v>45352</v></c><c r="E5" s="2"><v>0.07</v></c><c r="F5" s="3"><v>0.604166666666667</v></c><c r="G5" s="4"><v>3</v></c></row>` +
		`<row r="7"><c r="A7" t="inlineStr"><is><t>two` + "\n" + `lines</t></is></c><c r="B7" t="e"><v>#N/A</v></c><c r="C7" t="b"><v>1</v></c><c r="D7" s="5"><v>45352.5</v></c></row>` +
		`</sheetData><mergeCells count="2"><mergeCell ref="B3:C3"/><mergeCell ref="A3:A4"/></mergeCells></worksheet>`,
	"xl/worksheets/two.xml": `<worksheet><sheetData><row><c t="inlineStr"><is><t>x</t></is></c></row><row><c><v>1</v></c></row></sheetData></worksheet>`,
}

func text(b []byte, sheet string) (string, error) {
	r, _, err := Open(bytes.NewReader(b), int64(len(b)), sheet, 1<<20)
	if err != nil {
		return "", err
	}
	text, err := io.ReadAll(r)
	return string(text), err
}

func TestSheets(t *testing.T) {
	b := workbook(t, clinic)
	want := "\n\n\npatient,blood pressure high,blood pressure low,day,share,at,n\n" +
		"\"ann, \"\"A\"\"\",120,80.5,2024-03-01,7,14:30:00,3\n\n" +
		"two lines,,true,2024-03-01T12:00:00,,,\n"
	if got, err := text(b, ""); err != nil || got != want {
		t.Errorf("%q %v\nwant %q", got, err, want)
	}
	if _, others, err := Open(bytes.NewReader(b), int64(len(b)), "", 1<<20); err != nil || !slices.Equal(others, []string{"old"}) {
		t.Errorf("other sheets %v, %v", others, err)
	}
	if got, err := text(b, "old"); err != nil || got != "x\n1\n" {
		t.Errorf("%q %v", got, err)
	}
	if _, err := text(b, "Q1 2042"); err == nil || !strings.Contains(err.Error(), `has no sheet "Q1 2042"`) || !strings.Contains(err.Error(), "Q1 2024") {
		t.Error(err)
	}
}

func TestBadWorkbooks(t *testing.T) {
	with := func(part, text string) []byte {
		parts := map[string]string{}
		for name, text := range clinic {
			parts[name] = text
		}
		parts[part] = text
		return workbook(t, parts)
	}
	leastUnpacked = 1 << 20
	defer func() { leastUnpacked = 64 << 20 }()
	wide := strings.Repeat(`<row><c r="XFD1"><v>1</v></c></row>`, 300)
	for want, b := range map[string][]byte{
		"is no workbook":       []byte("PK\x03\x04 but no zip"),
		"no workbook":          workbook(t, map[string]string{"a.txt": "x"}),
		"text \"9\" is none":   with("xl/worksheets/one.xml", `<worksheet><sheetData><row r="1"><c t="s"><v>9</v></c></row></sheetData></worksheet>`),
		"row 1 follows row 2":  with("xl/worksheets/one.xml", `<worksheet><sheetData><row r="2"><c><v>9</v></c></row><row r="1"/></sheetData></worksheet>`),
		"the sheet is empty":   with("xl/worksheets/one.xml", `<worksheet><sheetData></sheetData></worksheet>`),
		"cannot be read":       with("xl/worksheets/one.xml", `<worksheet><sheetData><row><c`),
		"more than 200 times":  with("xl/worksheets/one.xml", `<worksheet><sheetData><row><c t="str"><v>`+strings.Repeat(" ", 8<<20)),
		"more than the 1 MiB":  with("xl/sharedStrings.xml", "<sst>"+strings.Repeat("<si/>", 1<<16)),
		"nearly empty and ver": with("xl/worksheets/one.xml", "<worksheet><sheetData>"+wide),
	} {
		if got, err := text(b, ""); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %.60q %v", want, got, err)
		}
	}
}

// What is written reads back, but for texts that look like numbers as they are
// not written.
func TestWrite(t *testing.T) {
	const want = "name,2024,day,at\n<a & b>,1.5,2024-03-01,2024-03-01T12:30:00\n007,-2,,1899-01-01\n1e+30,12345678901234567890,x,\n"
	var b bytes.Buffer
	if err := Write(&b, strings.NewReader(want)); err != nil {
		t.Fatal(err)
	}
	if got, err := text(b.Bytes(), "table"); err != nil || got != want {
		t.Errorf("%q %v", got, err)
	}
}

func TestSheetsGrow(t *testing.T) {
	for _, row := range []string{`<row><c><v>1</v></c></row>`, `<row><c r="B1"/><mergeCell ref="A1:B1"/><si><t>x</t>`} {
		bounded.Worst(t, func(size int) []byte {
			text := strings.Repeat(row, size/len(row))
			parts := map[string]string{}
			for name, text := range clinic {
				parts[name] = text
			}
			parts["xl/worksheets/one.xml"] = "<worksheet><sheetData>" + text
			parts["xl/sharedStrings.xml"] = text
			var b bytes.Buffer
			z := zip.NewWriter(&b)
			for name, text := range parts {
				f, _ := z.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Store})
				_, _ = io.WriteString(f, text)
			}
			_ = z.Close()
			return b.Bytes()
		}, func(b []byte) { _, _ = text(b, "") })
	}
}

// FuzzSheet: any part gives text of lines with as many cells, or an error.
func FuzzSheet(f *testing.F) {
	for name, part := range clinic {
		f.Add(name, part)
	}
	f.Fuzz(func(t *testing.T, name, part string) {
		defer bounded.Start(t, len(name)+len(part))()
		if strings.Contains(name, "\x00") {
			return
		}
		parts := map[string]string{}
		for name, text := range clinic {
			parts[name] = text
		}
		parts[name] = part
		got, err := text(workbook(t, parts), "")
		if err != nil {
			return
		}
		var b bytes.Buffer
		if err := Write(&b, strings.NewReader(got)); err != nil {
			t.Errorf("%q is not written: %v", got, err)
		}
		if strings.Count(got, "\n") == 0 {
			t.Errorf("%q has no line", got)
		}
	})
}
