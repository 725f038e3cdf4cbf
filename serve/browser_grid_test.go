package serve

import (
	"compress/gzip"
	"encoding/csv"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

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

// Every screen, wide and narrow, light and dark, with few rules and with hundreds,
// two classes and twelve, names of sixty letters: pictures for who wants to look
// (ACCRETE_SHOTS=folder), and nothing is wider than its window. By ACCRETE_GRID
// only the screens are made whose name contains it.
func TestPageGrid(t *testing.T) {
	if os.Getenv("ACCRETE_SHOTS") == "" && os.Getenv("ACCRETE_LONG") == "" {
		t.Skip("all pictures of the page are made with ACCRETE_SHOTS=folder")
	}
	s := newTrial(t)
	heart(s)
	s.want(s.do("POST", "/v1/data?name=many.csv", many(900), "Content-Type: text/csv"), 201)
	s.want(s.do("POST", "/v1/learn", `{"data":"many.csv","target":"class","learner":"tree","settings":{"prune":"none"},"name":"many","folds":0}`, wait), 200)
	s.want(s.do("POST", "/v1/learn", `{"data":"weather","learner":"tree","name":"a-model-whose-name-has-sixty-letters-so-that-it-fits-nowhere"}`, wait), 200)
	s.want(s.do("POST", "/v1/learn", `{"data":"tictactoe","learner":"q","settings":{"episodes":"2000"}}`, wait), 200)
	s.want(s.do("POST", "/v1/learn", `{"data":"weather","learner":"bayes","folds":0}`, wait), 200)
	s.want(s.do("POST", "/v1/learn", `{"data":"boston","learner":"tree","name":"prices","folds":0}`, wait), 200)
	for i := range 60 {
		s.want(s.do("POST", "/v1/models/weather/rows", map[string]any{"row": map[string]any{"outlook": []string{"sunny", "rainy"}[i%2], "play": []string{"no", "yes"}[i%2]}}), 200)
	}
	rule := s.want(s.do("GET", "/v1/models/heart/conflicts", nil), 200).json["conflicts"].([]any)[0].(map[string]any)["rule"].(string)
	few := "a-model-whose-name-has-sixty-letters-so-that-it-fits-nowhere"
	screens := [][2]string{
		{"rules", "heart/rules?rule=" + rule + "&show=strike"}, {"rules-plain", "heart/rules"}, {"rules-many", "many/rules"}, {"rules-few", few + "/rules"}, {"rules-number", "prices/rules"},
		{"case", "heart/case?data=april.csv&row=24"}, {"case-wrong", "heart/case?data=april.csv&row=24&show=wrong"}, {"case-many", "many/case?data=many.csv&row=3"}, {"case-empty", "heart/case"}, {"case-number", "prices/case?lstat=5&rm=6"},
		{"picture", "heart/picture"}, {"picture-many", "many/picture"}, {"picture-few", few + "/picture"}, {"picture-game", "tictactoe/picture"}, {"rules-game", "tictactoe/rules"},
		{"versions", "heart/versions?before=2&after=3"}, {"versions-newest", "heart/versions"}, {"versions-one", "many/versions"},
		{"live-none", "heart/live"}, {"live", "weather/live"}, {"court", "heart/court"}, {"court-none", "many/court"},
		{"learn", "heart/learn?data=january.csv"}, {"learn-many", "many/learn?data=many.csv"}, {"learn-empty", "heart/learn"}, {"data", "heart/data?table=january.csv"}, {"data-many", "many/data?table=many.csv"}, {"unknown", "nobody/rules"},
	}
	v := visit(t, s)
	only := os.Getenv("ACCRETE_GRID")
	for _, width := range []int64{1280, 390} {
		v.do(chromedp.EmulateViewport(width, map[int64]int64{1280: 900, 390: 844}[width]))
		for _, theme := range []string{"light", "dark"} {
			v.theme(theme)
			for _, screen := range screens {
				where := fmt.Sprintf("%s-%d-%s", screen[0], width, theme)
				if !strings.Contains(where, only) {
					continue
				}
				v.at("#/" + screen[1])
				time.Sleep(500 * time.Millisecond) // what is asked for after a moment of rest
				v.wait("!!document.querySelector('main h1, main h2, main [role=alert]') && !document.querySelector('.grey')", where)
				v.fits(where)
				v.full(where)
			}
		}
	}
}

// full keeps a picture of the whole page, however long.
func (v *visitor) full(name string) {
	if dir := os.Getenv("ACCRETE_SHOTS"); dir != "" {
		if png, err := chromedp.Run(v.ctx, chromedp.FullScreenshot(100)); err == nil {
			err = os.WriteFile(dir+"/"+name+".png", png, 0o644)
			if err != nil {
				v.t.Log(err)
			}
		}
	}
}
