package serve

import (
	"compress/gzip"
	"encoding/csv"
	"math/rand/v2"
	"os"
	"strings"

	"github.com/chromedp/chromedp"
)

// cleveland is words for the columns of heart-c, as a cardiologist has them.
const cleveland = `{"row":"patient","columns":{
"age":{"label":"age","unit":"years"},"sex":{"label":"sex","values":{"male":"man","female":"woman"}},
"cp":{"label":"chest pain","group":"Complaint","values":{"asympt":"asymptomatic","non_anginal":"non-anginal","atyp_angina":"atypical angina","typ_angina":"typical angina"}},
"exang":{"label":"angina on exercise","group":"Complaint"},
"trestbps":{"label":"blood pressure","unit":"mmHg","group":"At rest"},"chol":{"label":"cholesterol","unit":"mg/dl","group":"At rest"},
"fbs":{"label":"sugar over 120","group":"At rest","values":{"t":"yes","f":"no"}},"restecg":{"label":"ECG at rest","group":"At rest","values":{"left_vent_hyper":"left hypertrophy","st_t_wave_abnormality":"ST-T"}},
"thalach":{"label":"highest heart rate","unit":"/min","group":"On exercise"},"oldpeak":{"label":"ST depression","unit":"mm","group":"On exercise"},"slope":{"label":"ST slope","group":"On exercise"},
"ca":{"label":"coloured vessels","count":true,"group":"Imaging"},"thal":{"label":"thallium scan","group":"Imaging","values":{"fixed_defect":"fixed","reversable_defect":"reversible"}},
"num":{"label":"disease","values":{"<50":"no disease",">50_1":"disease"}}}}`

// heart is a model with a life: three tables learnt, two rules told, one of which
// the rows dispute, and a fourth table that is kept aside.
func heart(s *trial) {
	s.t.Helper()
	packed, err := os.Open("../datasets/data/heart-c.csv.gz")
	if err != nil {
		s.t.Fatal(err)
	}
	defer packed.Close()
	text, err := gzip.NewReader(packed)
	if err != nil {
		s.t.Fatal(err)
	}
	rows, err := csv.NewReader(text).ReadAll()
	if err != nil {
		s.t.Fatal(err)
	}
	rest := rows[1:]
	rand.New(rand.NewPCG(3, 3)).Shuffle(len(rest), func(i, j int) { rest[i], rest[j] = rest[j], rest[i] })
	for _, part := range []struct {
		name string
		rows int
	}{{"january.csv", 140}, {"february.csv", 60}, {"march.csv", 50}, {"april.csv", 53}} {
		var b strings.Builder
		w := csv.NewWriter(&b)
		if err := w.WriteAll(append(rows[:1:1], rest[:part.rows]...)); err != nil {
			s.t.Fatal(err)
		}
		rest = rest[part.rows:]
		s.want(s.do("POST", "/v1/data?name="+part.name, b.String(), "Content-Type: text/csv"), 201)
	}
	s.want(s.do("POST", "/v1/learn", `{"data":"january.csv","target":"num","name":"heart"}`, wait), 200)
	s.want(s.do("PUT", "/v1/models/heart/words", cleveland), 200)
	s.want(s.do("POST", "/v1/models/heart/update", `{"data":"february.csv"}`, wait), 200)
	s.want(s.do("POST", "/v1/models/heart/tell", map[string]any{"rules": "IF ca > 1.5 THEN num = \">50_1\" WITH 0.9 WORTH 20\nIF cp = typ_angina THEN num = \">50_1\" WITH 0.8 WORTH 20", "note": "Cath lab experience"}), 200)
	s.want(s.do("POST", "/v1/models/heart/update", `{"data":"march.csv"}`, wait), 200)
}

// full keeps a picture of the whole page, however long.
func (v *visitor) full(name string) {
	if dir := os.Getenv("ACCRETE_SHOTS"); dir != "" {
		png, err := chromedp.Run(v.ctx, chromedp.FullScreenshot(100))
		if err == nil {
			err = os.WriteFile(dir+"/"+name+".png", png, 0o644)
		}
		if err != nil {
			v.t.Logf("%s: %v", name, err)
		}
	}
}
