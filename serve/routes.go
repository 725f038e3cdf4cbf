package serve

import (
	"net/http"
	"slices"

	"github.com/accrete-ml/accrete/evaluate"
	"github.com/accrete-ml/accrete/life"
	"github.com/accrete-ml/accrete/rule/say"
)

// route is something that can be asked for: what it is called with, who may,
// what goes in and comes out. The server and its description are made of this
// table.
type route struct {
	method, path string
	scope        scope
	whole        bool   // it tells of all models
	reads        bool   // it changes nothing, whatever its scope
	does         string // in a line
	params       []param
	in, out      any    // values of the types of the bodies; nil is none
	inType       string // of the body, if it is no JSON
	job          bool   // it is a job: out is its result
	others       []any  // other forms that the answer may have
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
func (r *route) changes() bool { return r.scope >= write && !r.reads }

// takes reports whether a route has a parameter.
func (r *route) takes(key string) bool {
	return slices.ContainsFunc(r.params, func(p param) bool { return p.name == key })
}

// most is how many bytes the body of a request may have. What flows is not held,
// unless it is one document.
func (c *call) most() int64 {
	switch size := c.route.size; {
	case size == large:
		return c.o.MostUpload
	case size == flowing && c.streamed():
		return 1 << 62
	case size == flowing, size == somewhat:
		return 8 * c.o.MostBody
	}
	return c.o.MostBody
}

// elsewhere is whatever has no route: files of the page, or nothing.
var elsewhere = route{path: "/", scope: open, does: "the page", answer: (*call).page}

const modelPath = "/v1/models/{m}"

var routes []route

func init() {
	routes = slices.Concat(aboutRoutes, modelRoutes, editRoutes, workRoutes, dataRoutes, inferenceRoutes)
}

var aboutRoutes = []route{
	{method: http.MethodGet, path: "/healthz", does: "Say that the server is there", out: Status{}, answer: (*call).healthz},
	{method: http.MethodGet, path: "/readyz", does: "Say whether it can answer", out: Status{}, answer: (*call).readyz, problems: []int{503}},
	{method: http.MethodPost, path: "/v1/login", does: "Sign in: set a cookie that stands for a token", in: Login{}, out: Me{}, answer: (*call).login, problems: []int{400, 401}},
	{method: http.MethodDelete, path: "/v1/login", does: "Sign out", status: 204, answer: (*call).logout},
	{method: http.MethodGet, path: "/v1/whoami", scope: read, does: "Say who calls, and what they may do", out: Me{}, answer: (*call).whoami},
	{method: http.MethodGet, path: "/openapi.json", does: "Describe all routes, as OpenAPI 3.1", out: map[string]any{}, answer: (*call).openapi},
	{method: http.MethodGet, path: "/docs", does: "Describe all routes, for people", outType: "text/html", answer: (*call).docs},
	{method: http.MethodGet, path: "/metrics", scope: read, whole: true, does: "Tell what happened, for Prometheus", outType: "text/plain", answer: (*call).metrics},
	{method: http.MethodGet, path: "/v1/events", scope: read, does: "Follow new versions of models, as they come", outType: eventStream, answer: (*call).followAll},
	{method: http.MethodGet, path: "/v1/audit", scope: admin, whole: true, reads: true, does: "List who wrote what, when and from where", out: AuditLog{}, answer: (*call).showAudit, params: []param{{"limit", "integer", "how many, the newest first"}}},
	{method: http.MethodGet, path: "/v1/datasets", scope: read, does: "List the built-in data sets", out: Datasets{}, answer: (*call).datasets},
	{method: http.MethodGet, path: "/v1/learners", scope: read, does: "List the learners, with their settings", out: Learners{}, answer: (*call).learners},
	{method: http.MethodGet, path: "/v1/learners/{l}", scope: read, does: "Describe a learner", out: life.Learner{}, answer: (*call).learner, problems: []int{404}},
}

var modelRoutes = []route{
	{method: http.MethodGet, path: "/v1/models", scope: read, does: "List the models", out: life.Models{}, answer: (*call).models},
	{method: http.MethodGet, path: modelPath, scope: read, does: "Describe a model or a version of it, NAME@N", out: Model{}, answer: (*call).model, problems: []int{400, 404}, params: []param{{"plain", "boolean", "without an estimate of how often it is right"}}},
	{method: http.MethodDelete, path: modelPath, scope: admin, does: "Delete a model, or a version of it, for good", status: 204, answer: (*call).deleteModel, problems: []int{404, 412}},
	{method: http.MethodGet, path: modelPath + "/rules", scope: read, does: "Read what a model knows, as rules", out: life.RuleBase{}, answer: (*call).rules, problems: []int{400, 404, 422}, params: []param{
		{"top", "integer", "only so many"}, {"formal", "boolean", "with all that answers depend on"}, {"without", "string", "as if this source had never been there"},
		{"sort", "string", "decides, bits, rate or newest"}, {"class", "string", "that conclude this class"}, {"column", "string", "that test this column"}, {"state", "string", "told ones in this state"}}},
	{method: http.MethodGet, path: modelPath + "/log", scope: read, does: "List what each version learnt, from where and when", out: map[string]any{}, answer: (*call).logOf, problems: []int{400, 404, 422}, params: []param{{"on", "string", "data to judge each version on"}}},
	{method: http.MethodGet, path: modelPath + "/rules/{id}/rows", scope: read, does: "List rows that a rule covers", out: life.RuleRows{}, answer: (*call).ruleRows, problems: []int{400, 404, 409, 422}, params: []param{
		{"wrong", "boolean", "only those that it is wrong about"}, {"offset", "integer", "rows to leave out first"}, {"limit", "integer", "how many, at most 1000"}}},
	{method: http.MethodGet, path: modelPath + "/graph", scope: read, does: "Read a model as a network or a tree", out: Graph{}, answer: (*call).graph, problems: []int{400, 404, 422}, params: []param{{"row", "string", "cells by column, as JSON: the nodes that such a row goes through are lit"}}},
	{method: http.MethodPost, path: modelPath + "/query", scope: read, does: "Say what a model would like to know", in: ToQuery{}, out: life.Query{}, answer: (*call).questions, problems: []int{400, 404, 415, 422}},
	{method: http.MethodGet, path: modelPath + "/growth", scope: read, does: "Say why each unit of a model that grew is there", out: life.Growth{}, answer: (*call).growth, problems: []int{404, 422}},
	{method: http.MethodGet, path: modelPath + "/draw", scope: read, does: "Draw a model", outType: "image/svg+xml", answer: (*call).draw, problems: []int{404, 422}, params: []param{
		{"columns", "string", "two numeric columns to draw units or cases over, as X,Y"}, {"regions", "string", "two columns to draw answers over, as X,Y"},
		{"curve", "string", "likelihood or accuracy by size"}, {"network", "boolean", "as a network of units"}, {"on", "string", "data to draw with it"}}},
	{method: http.MethodGet, path: modelPath + "/export", scope: read, does: "Export a version as a file", outType: "application/octet-stream", answer: (*call).export, problems: []int{404}, params: []param{
		{"version", "integer", "which"}, {"without_rows", "boolean", "without rows that the model keeps"}}},
	{method: http.MethodPost, path: modelPath + "/predict", scope: read, does: "Answer for a row, for rows, or for a table of CSV or JSON lines as it comes", in: Asked{}, out: Answer{}, others: []any{Answers{}, AnswerColumns{}}, streams: []string{"text/csv", "application/x-ndjson"}, size: flowing, answer: (*call).predict, problems: []int{400, 404, 409, 413, 415, 422}, params: []param{{"keep", "boolean", "keep the answer until its truth is told"}}},
	{method: http.MethodGet, path: modelPath + "/budget", scope: read, does: "Say how accurate the model is with fewer rules", out: life.Budget{}, answer: (*call).budget, problems: []int{404, 422}},
	{method: http.MethodPost, path: modelPath + "/draft", scope: read, does: "Draft a rule that would have answered a row otherwise", in: ToDraft{}, out: life.Draft{}, answer: (*call).draft, problems: []int{400, 404, 415, 422}},
	{method: http.MethodPost, path: modelPath + "/say", scope: read, does: "Say rules as sentences, as they would be told to a model", in: ToSay{}, out: SaidRules{}, answer: (*call).sayModel, problems: []int{400, 404, 415, 422}},
	{method: http.MethodPost, path: modelPath + "/play", scope: read, does: "Let a policy act in an environment, or play with it", in: ToPlay{}, out: Game{}, answer: (*call).play, problems: []int{400, 404, 415, 422}},
	{method: http.MethodPost, path: modelPath + "/explain", scope: read, does: "Say why: the evidence for and against an answer", in: ToExplain{}, out: Explanation{}, answer: (*call).explain, problems: []int{400, 404, 409, 415, 422}},
	{method: http.MethodPost, path: modelPath + "/ask", scope: read, does: "Ask for any column, given any others", in: Question{}, out: life.Answers{}, answer: (*call).ask, problems: []int{400, 404, 415, 422}},
}

// editRoutes correct a model, or teach it.
var editRoutes = []route{
	{method: http.MethodPost, path: modelPath + "/rows", scope: write, does: "Learn rows as they come; the answer comes when they are durable", in: ToLearnRows{}, out: Acknowledged{}, size: somewhat, answer: (*call).learnRows, problems: []int{400, 404, 409, 412, 415, 422}},
	{method: http.MethodPost, path: modelPath + "/truth", scope: write, does: "Say what became of an answer that was kept", in: ToldTruth{}, out: TruthSaid{}, answer: (*call).truth, problems: []int{400, 404, 412, 415, 422}},
	{method: http.MethodGet, path: modelPath + "/live", scope: read, does: "Follow how a model does on rows as they come, every second", outType: eventStream, answer: (*call).followLive, problems: []int{404, 422}},
	{method: http.MethodPost, path: modelPath + "/tell", scope: write, reads: true, does: "Tell a model what an expert knows", in: ToTell{}, out: life.Told{}, answer: (*call).tell, problems: []int{400, 404, 412, 415, 422}},
	{method: http.MethodPost, path: modelPath + "/forget", scope: write, reads: true, does: "Take a source back out", in: ToForget{}, out: life.Forgotten{}, answer: (*call).forget, problems: []int{400, 404, 412, 415, 422}},
	{method: http.MethodPost, path: modelPath + "/restore", scope: write, reads: true, does: "Make an old version the newest again", in: ToRestore{}, out: life.Learnt{}, answer: (*call).restore, problems: []int{400, 404, 412, 415, 422}},
	{method: http.MethodPost, path: modelPath + "/strike", scope: write, reads: true, does: "Leave a rule out", in: ToStrike{}, out: life.Struck{}, answer: (*call).strike, problems: []int{400, 404, 412, 415, 422}},
	{method: http.MethodPost, path: modelPath + "/cut", scope: write, reads: true, does: "Keep the rules that decide most", in: ToCut{}, out: life.Learnt{}, answer: (*call).cut, problems: []int{400, 404, 412, 415, 422}},
	{method: http.MethodPost, path: modelPath + "/undo", scope: write, reads: true, does: "Take the last correction back", in: Judged{}, out: life.Undone{}, answer: (*call).undo, problems: []int{400, 404, 412, 415, 422}},
	{method: http.MethodGet, path: modelPath + "/edits", scope: read, does: "List what people did to a model", out: life.Edits{}, answer: (*call).edits, problems: []int{404}},
	{method: http.MethodGet, path: modelPath + "/conflicts", scope: read, does: "List where people and rows disagree", out: life.Court{}, answer: (*call).conflicts, problems: []int{404}},
	{method: http.MethodGet, path: modelPath + "/report", scope: read, does: "Write the page to sign for a version", outType: "text/html", answer: (*call).report, problems: []int{400, 404, 422}, params: []param{{"version", "integer", "which"}, {"on", "string", "data to judge it on"}}},
	{method: http.MethodPost, path: modelPath + "/approve", scope: admin, does: "Say that somebody answers for a version", in: ToApprove{}, out: life.Approval{}, answer: (*call).approve, problems: []int{400, 404, 412, 415, 422}},
	{method: http.MethodGet, path: modelPath + "/words", scope: read, does: "Read the names that people use", out: say.Words{}, answer: (*call).words, problems: []int{404, 422}},
	{method: http.MethodPut, path: modelPath + "/words", scope: write, does: "Give columns, values and rows the names that people use", in: say.Words{}, out: say.Words{}, answer: (*call).setWords, problems: []int{400, 404, 412, 415, 422}},
	{method: http.MethodGet, path: "/v1/data/{d}/words", scope: read, does: "Read the names of a table", out: say.Words{}, answer: (*call).dataWords, problems: []int{404}},
	{method: http.MethodPut, path: "/v1/data/{d}/words", scope: write, does: "Name what a table speaks of", in: say.Words{}, out: say.Words{}, answer: (*call).setDataWords, problems: []int{400, 404, 415}},
}

// inferencePath is where the routes of the Open Inference Protocol begin.
const inferencePath = "/v2"

// inferenceRoutes are the Open Inference Protocol.
var inferenceRoutes = []route{
	{method: http.MethodGet, path: "/v2", scope: read, does: "Describe the server (Open Inference Protocol)", out: InferenceServer{}, answer: (*call).inferenceServer},
	{method: http.MethodGet, path: "/v2/health/live", does: "Say that the server is there", out: Live{}, answer: (*call).inferenceLive},
	{method: http.MethodGet, path: "/v2/health/ready", does: "Say that it can answer", out: Ready{}, answer: (*call).inferenceReady},
	{method: http.MethodGet, path: "/v2/models/{m}", scope: read, does: "Describe a model's inputs and outputs", out: InferenceModel{}, answer: (*call).inferenceModel, problems: []int{404, 422}},
	{method: http.MethodGet, path: "/v2/models/{m}/ready", scope: read, does: "Say that a model can answer", out: Ready{}, answer: (*call).inferenceModelReady, problems: []int{404}},
	{method: http.MethodPost, path: "/v2/models/{m}/infer", scope: read, does: "Answer for rows, one input a column", in: InferenceRequest{}, out: InferenceResponse{}, size: somewhat, answer: (*call).infer, problems: []int{400, 404, 409, 415, 422}},
	{method: http.MethodGet, path: "/v2/models/{m}/versions/{v}", scope: read, does: "Describe the inputs and outputs of a version", out: InferenceModel{}, answer: (*call).inferenceModel, problems: []int{404, 422}},
	{method: http.MethodGet, path: "/v2/models/{m}/versions/{v}/ready", scope: read, does: "Say that a version can answer", out: Ready{}, answer: (*call).inferenceModelReady, problems: []int{404}},
	{method: http.MethodPost, path: "/v2/models/{m}/versions/{v}/infer", scope: read, does: "Have a version answer for rows", in: InferenceRequest{}, out: InferenceResponse{}, size: somewhat, answer: (*call).infer, problems: []int{400, 404, 415, 422}},
}

// workRoutes begin jobs.
var workRoutes = []route{
	{method: http.MethodPost, path: "/v1/learn", scope: write, does: "Learn a model", in: ToLearn{}, out: JustLearnt{}, others: []any{life.Acted{}}, job: true, answer: (*call).learnModel, problems: []int{400, 412, 415, 422, 429}},
	{method: http.MethodPost, path: modelPath + "/update", scope: write, does: "Learn more rows, without the old ones", in: ToUpdate{}, out: life.Updated{}, job: true, answer: (*call).update, problems: []int{400, 404, 412, 415, 422, 429}},
	{method: http.MethodPost, path: "/v1/evaluate", scope: read, does: "Judge a learner, or a model, on rows that it has not seen", in: ToEvaluate{}, out: evaluate.Result{}, others: []any{evaluate.Scores{}}, job: true, answer: (*call).evaluate, problems: []int{400, 404, 415, 422, 429}},
	{method: http.MethodPost, path: "/v1/compare", scope: read, does: "Set learners side by side, and say which differences are real", in: ToCompare{}, out: evaluate.Comparison{}, job: true, answer: (*call).compare, problems: []int{400, 415, 422, 429}},
	{method: http.MethodPost, path: "/v1/merge", scope: write, does: "Join two models that learnt apart", in: ToMerge{}, out: life.Merged{}, job: true, answer: (*call).merge, problems: []int{400, 404, 415, 422, 429}},
	{method: http.MethodPost, path: "/v1/diff", scope: read, does: "Say what changed from one version or model to another", in: ToDiff{}, out: map[string]any{}, job: true, answer: (*call).diff, problems: []int{400, 404, 415, 422, 429}},
	{method: http.MethodPost, path: modelPath + "/verify", scope: read, does: "Learn all again, and compare", out: life.Verified{}, job: true, answer: (*call).verify, problems: []int{404, 422, 429}},
	{method: http.MethodGet, path: "/v1/jobs", scope: read, does: "List the jobs, the newest first", out: Jobs{}, answer: (*call).listJobs},
	{method: http.MethodGet, path: "/v1/jobs/{id}", scope: read, does: "Say how far a job is, or what came of it", out: Job{}, answer: (*call).showJob, problems: []int{404}},
	{method: http.MethodGet, path: "/v1/jobs/{id}/events", scope: read, does: "Follow a job: progress, then result or problem", outType: eventStream, answer: (*call).followJob, problems: []int{404}},
	{method: http.MethodDelete, path: "/v1/jobs/{id}", scope: read, does: "Cancel a job", status: 204, answer: (*call).cancelJob, problems: []int{404}},
}

// dataRoutes are about tables that are sent, and models that come from elsewhere.
var dataRoutes = []route{
	{method: http.MethodPost, path: "/v1/data", scope: write, does: "Send a table: a file's bytes, or a form with a file", inType: "application/octet-stream", out: DataDescription{}, status: 201, size: large, answer: (*call).upload, problems: []int{400, 409, 413, 422}, params: []param{
		{"name", "string", "what to call it; none is the file's name"}, {"replace", "boolean", "the table of that name"}}},
	{method: http.MethodGet, path: "/v1/data", scope: read, does: "List the tables that were sent", out: DataList{}, answer: (*call).listData},
	{method: http.MethodGet, path: "/v1/data/{d}", scope: read, does: "Describe a table", out: DataDescription{}, answer: (*call).describe, problems: []int{404, 422}, params: []param{{"target", "string", "the column whose classes the others are set beside"}}},
	{method: http.MethodPatch, path: "/v1/data/{d}", scope: write, does: "Change how a table is read", in: ReadAs{}, out: DataDescription{}, answer: (*call).patchData, problems: []int{400, 404, 415, 422}},
	{method: http.MethodDelete, path: "/v1/data/{d}", scope: write, does: "Delete a table that was sent", status: 204, answer: (*call).deleteData, problems: []int{404}},
	{method: http.MethodGet, path: "/v1/data/{d}/rows", scope: read, does: "Read rows of a table", out: DataRows{}, answer: (*call).dataRows, problems: []int{400, 404}, params: []param{
		{"offset", "integer", "rows to leave out first"}, {"limit", "integer", "how many, at most 1000"}}},
	{method: http.MethodPost, path: "/v1/data/{d}/say", scope: read, does: "Say rules about a table's columns as sentences", in: ToSay{}, out: SaidRules{}, answer: (*call).sayData, problems: []int{400, 404, 415, 422}},
	{method: http.MethodPost, path: "/v1/import", scope: write, does: "Take in a model that was exported", inType: "application/octet-stream", out: life.Learnt{}, size: large, answer: (*call).importModel, problems: []int{400, 413, 422}, params: []param{{"name", "string", "what to call it; none is the name that it had"}}},
}
