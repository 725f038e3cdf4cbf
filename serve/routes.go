package serve

import (
	"net/http"
	"slices"

	"github.com/accrete-ml/accrete/life"
)

// route is something that can be asked for: what it is called with, who may,
// what goes in and comes out. The server and its description are made of this
// table.
type route struct {
	method, path string
	scope        scope
	does         string // in a line
	params       []param
	in, out      any    // values of the types of the bodies; nil is none
	outType      string // of the answer, if it is no JSON
	streams      []string
	status       int   // of the answer; 0 is 200
	problems     []int // statuses besides those that every route may have
	size         size
	answer       func(*call) error
}

// param is a parameter of the query.
type param struct{ name, kind, doc string }

// size is how large a body may be.
type size int

const (
	small    size = iota // JSON
	large                // tables and exports
	flowing              // of any size: it is never held whole
	somewhat             // many rows in one document
)

// changes reports whether a route changes what is kept.
func (r *route) changes() bool { return r.scope >= write }

// takes reports whether a route has a parameter.
func (r *route) takes(key string) bool {
	return slices.ContainsFunc(r.params, func(p param) bool { return p.name == key })
}

// most is how many bytes a body may have.
func (r *route) most(o *Options) int64 {
	switch r.size {
	case large:
		return o.MostUpload
	case flowing:
		return 1 << 62
	case somewhat:
		return 8 * o.MostBody
	}
	return o.MostBody
}

// elsewhere is whatever has no route: files of the page, or nothing.
var elsewhere = route{path: "/", scope: open, does: "the page", answer: (*call).page}

const modelPath = "/v1/models/{m}"

var routes []route

func init() {
	routes = slices.Concat(aboutRoutes, modelRoutes)
}

var aboutRoutes = []route{
	{method: http.MethodGet, path: "/healthz", does: "Say that the server is there", out: Status{}, answer: (*call).healthz},
	{method: http.MethodGet, path: "/readyz", does: "Say whether it can answer", out: Status{}, answer: (*call).readyz, problems: []int{503}},
	{method: http.MethodGet, path: "/v1/whoami", scope: read, does: "Say who calls, and what they may do", out: Me{}, answer: (*call).whoami},
	{method: http.MethodGet, path: "/v1/datasets", scope: read, does: "List the built-in data sets", out: Datasets{}, answer: (*call).datasets},
	{method: http.MethodGet, path: "/v1/learners", scope: read, does: "List the learners, with their settings", out: Learners{}, answer: (*call).learners},
	{method: http.MethodGet, path: "/v1/learners/{l}", scope: read, does: "Describe a learner", out: life.Learner{}, answer: (*call).learner, problems: []int{404}},
}

var modelRoutes = []route{
	{method: http.MethodGet, path: "/v1/models", scope: read, does: "List the models", out: life.Models{}, answer: (*call).models},
	{method: http.MethodGet, path: modelPath, scope: read, does: "Describe a model or a version of it, NAME@N", out: Model{}, answer: (*call).model, problems: []int{404}},
	{method: http.MethodDelete, path: modelPath, scope: admin, does: "Delete a model, or a version of it, for good", status: 204, answer: (*call).deleteModel, problems: []int{404}},
	{method: http.MethodGet, path: modelPath + "/rules", scope: read, does: "Read what a model knows, as rules", out: life.RuleBase{}, answer: (*call).rules, problems: []int{400, 404, 422}, params: []param{
		{"top", "integer", "only so many"}, {"formal", "boolean", "with all that answers depend on"}, {"without", "string", "as if this source had never been there"},
		{"sort", "string", "decides, bits, rate or newest"}, {"class", "string", "that conclude this class"}, {"column", "string", "that test this column"}, {"state", "string", "told ones in this state"}}},
	{method: http.MethodGet, path: modelPath + "/log", scope: read, does: "List what each version learnt, from where and when", out: life.Log{}, answer: (*call).logOf, problems: []int{404}},
	{method: http.MethodGet, path: modelPath + "/growth", scope: read, does: "Say why each unit of a model that grew is there", out: life.Growth{}, answer: (*call).growth, problems: []int{404, 422}},
	{method: http.MethodGet, path: modelPath + "/draw", scope: read, does: "Draw a model", outType: "image/svg+xml", answer: (*call).draw, problems: []int{404, 422}, params: []param{
		{"columns", "string", "two numeric columns to draw units or cases over, as X,Y"}, {"regions", "string", "two columns to draw answers over, as X,Y"},
		{"curve", "string", "likelihood or accuracy by size"}, {"network", "boolean", "as a network of units"}, {"on", "string", "data to draw with it"}}},
	{method: http.MethodGet, path: modelPath + "/export", scope: read, does: "Export a version as a file", outType: "application/octet-stream", answer: (*call).export, problems: []int{404}, params: []param{
		{"version", "integer", "which"}, {"without_rows", "boolean", "without rows that the model keeps"}}},
	{method: http.MethodPost, path: modelPath + "/predict", scope: read, does: "Answer for a row, for rows, or for a table of CSV or JSON lines as it comes", in: Asked{}, out: Answer{}, streams: []string{"text/csv", "application/x-ndjson"}, size: flowing, answer: (*call).predict, problems: []int{400, 404, 413, 415, 422}},
	{method: http.MethodPost, path: modelPath + "/explain", scope: read, does: "Say why: the evidence for and against an answer", in: ToExplain{}, out: Explanation{}, answer: (*call).explain, problems: []int{400, 404, 415, 422}},
	{method: http.MethodPost, path: modelPath + "/ask", scope: read, does: "Ask for any column, given any others", in: Question{}, out: life.Answers{}, answer: (*call).ask, problems: []int{400, 404, 415, 422}},
}
