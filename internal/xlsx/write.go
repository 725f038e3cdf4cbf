package xlsx

import (
	"archive/zip"
	"bufio"
	"encoding/csv"
	"encoding/xml"
	"io"
	"strconv"
	"strings"
	"time"
)

// Write writes comma-separated text as a workbook of one sheet. Numbers and ISO
// dates become numbers and dates of the sheet, everything else text.
func Write(w io.Writer, text io.Reader) error {
	z := zip.NewWriter(w)
	for _, p := range fixedParts {
		f, err := z.Create(p.name)
		if err != nil {
			return err
		}
		if _, err := io.WriteString(f, xml.Header+p.text); err != nil {
			return err
		}
	}
	f, err := z.Create("xl/worksheets/sheet1.xml")
	if err != nil {
		return err
	}
	out := bufio.NewWriterSize(f, 1<<16)
	out.WriteString(xml.Header + `<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>`)
	in := csv.NewReader(text)
	in.FieldsPerRecord, in.ReuseRecord = -1, true
	for number := 1; ; number++ {
		record, err := in.Read()
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		out.WriteString("<row>")
		for _, cell := range record {
			if err := writeXML(out, cell, number == 1); err != nil {
				return err
			}
		}
		out.WriteString("</row>")
	}
	out.WriteString("</sheetData></worksheet>")
	if err := out.Flush(); err != nil {
		return err
	}
	return z.Close()
}

// writeXML writes a cell.
func writeXML(out *bufio.Writer, cell string, header bool) error {
	if cell == "" {
		_, err := out.WriteString("<c/>")
		return err
	}
	if x, err := strconv.ParseFloat(cell, 64); err == nil && !header && strings.Trim(cell, "0123456789.-+eE") == "" &&
		(strconv.FormatFloat(x, 'f', -1, 64) == cell || strings.ContainsAny(cell, ".e")) {
		_, err := out.WriteString("<c><v>" + cell + "</v></c>")
		return err
	}
	if days, style, ok := serial(cell); ok && !header {
		_, err := out.WriteString(`<c s="` + style + `"><v>` + strconv.FormatFloat(days, 'f', -1, 64) + "</v></c>")
		return err
	}
	out.WriteString(`<c t="inlineStr"><is><t xml:space="preserve">`)
	if err := xml.EscapeText(out, []byte(cell)); err != nil {
		return err
	}
	_, err := out.WriteString("</t></is></c>")
	return err
}

// serial returns an ISO date from March 1900 on as sheets count it.
func serial(cell string) (days float64, style string, ok bool) {
	for style, layout := range map[string]string{"1": time.DateOnly, "2": "2006-01-02T15:04:05"} {
		if len(cell) != len(layout) {
			continue
		}
		at, err := time.Parse(layout, cell)
		days := at.Sub(time.Date(1899, 12, 30, 0, 0, 0, 0, time.UTC)).Hours() / 24
		return days, style, err == nil && days >= 61
	}
	return 0, "", false
}

// fixedParts are the same in every workbook of one sheet.
var fixedParts = []struct{ name, text string }{
	{"[Content_Types].xml", `<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/><Override PartName="/xl/workbook.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/><Override PartName="/xl/worksheets/sheet1.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.worksheet+xml"/><Override PartName="/xl/styles.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.styles+xml"/></Types>`},
	{"_rels/.rels", `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="xl/workbook.xml"/></Relationships>`},
	{"xl/workbook.xml", `<workbook xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"><sheets><sheet name="table" sheetId="1" r:id="rId1"/></sheets></workbook>`},
	{"xl/_rels/workbook.xml.rels", `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet" Target="worksheets/sheet1.xml"/><Relationship Id="rId2" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/styles" Target="styles.xml"/></Relationships>`},
	{"xl/styles.xml", `<styleSheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><fonts count="1"><font><sz val="11"/><name val="Calibri"/></font></fonts><fills count="2"><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill></fills><borders count="1"><border><left/><right/><top/><bottom/><diagonal/></border></borders><cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs><cellXfs count="3"><xf numFmtId="0" fontId="0" fillId="0" borderId="0" xfId="0"/><xf numFmtId="14" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/><xf numFmtId="22" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/></cellXfs></styleSheet>`},
}
