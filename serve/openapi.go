package serve

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"html/template"
	"net/http"
	"path"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"
)

// object is a JSON object in the making.
type object = map[string]any

// description is what the server can be asked, as OpenAPI 3.1, made of the table
// of routes and the types of what goes in and comes out.
type description struct {
	schemas object
	names   map[reflect.Type]string
}

// openAPI returns the description for programs.
func openAPI(version string) object {
	d := &description{schemas: object{}, names: map[reflect.Type]string{}}
	paths := object{}
	for i := range routes {
		rt := &routes[i]
		at, _ := paths[rt.path].(object)
		if at == nil {
			at = object{}
			paths[rt.path] = at
		}
		at[strings.ToLower(rt.method)] = d.operation(rt)
	}
	d.ref(reflect.TypeFor[Problem]())
	return object{
		"openapi": "3.1.0",
		"info": object{"title": "Accrete", "version": cmp.Or(version, "0"), "license": object{"name": "see LICENSE"},
			"description": "Models that can be read, corrected and kept. Problems are RFC 9457 documents that say what to do."},
		"servers": []object{{"url": "/"}},
		"paths":   paths,
		"components": object{"schemas": d.schemas, "securitySchemes": object{
			"token":  object{"type": "http", "scheme": "bearer"},
			"cookie": object{"type": "apiKey", "in": "cookie", "name": cookieName},
		}},
	}
}

// operation describes one route.
func (d *description) operation(rt *route) object {
	op := object{"summary": rt.does, "operationId": operationID(rt), "tags": []string{strings.Split(strings.TrimPrefix(rt.path, "/"), "/")[0]}}
	if rt.scope != open {
		op["security"] = []object{{"token": []string{rt.scope.String()}}, {"cookie": []string{rt.scope.String()}}}
		op["description"] = "Scope: " + rt.scope.String()
	}
	var params []object
	for _, segment := range strings.Split(rt.path, "/") {
		if name, ok := strings.CutPrefix(segment, "{"); ok {
			params = append(params, object{"name": strings.TrimSuffix(name, "}"), "in": "path", "required": true, "schema": object{"type": "string"}})
		}
	}
	for _, p := range rt.params {
		params = append(params, object{"name": p.name, "in": "query", "description": p.doc, "schema": object{"type": p.kind}})
	}
	if params != nil {
		op["parameters"] = params
	}
	content := object{}
	if rt.in != nil {
		content["application/json"] = object{"schema": d.ref(reflect.TypeOf(rt.in))}
	}
	if rt.inType != "" {
		content[rt.inType] = object{"schema": object{"type": "string", "format": "binary"}}
		content["multipart/form-data"] = object{"schema": object{"type": "object"}}
	}
	for _, t := range rt.streams {
		content[t] = object{"schema": object{"type": "string"}}
	}
	if len(content) > 0 {
		op["requestBody"] = object{"required": true, "content": content}
	}
	op["responses"] = d.responses(rt)
	return op
}

// operationID is a name for the operation: getModelsRules.
func operationID(rt *route) string {
	id := strings.ToLower(rt.method)
	for _, segment := range strings.FieldsFunc(rt.path, func(r rune) bool { return strings.ContainsRune("/{}.", r) }) {
		id += strings.ToUpper(segment[:1]) + segment[1:]
	}
	return id
}

// statuses are those of a route's problems.
func (r *route) statuses() []int {
	all := append([]int{403}, r.problems...)
	if r.method != http.MethodGet {
		all = append(all, 408, 413)
	}
	if r.scope != open {
		all = append(all, 401, 429, 500, 503)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

func (d *description) responses(rt *route) object {
	good := object{"description": "done"}
	content := object{}
	if rt.out != nil {
		content["application/json"] = object{"schema": d.outSchema(rt)}
	}
	if rt.outType != "" {
		content[rt.outType] = object{"schema": object{"type": "string"}}
	}
	for _, t := range rt.streams {
		content[t] = object{"schema": object{"type": "string"}}
	}
	if len(content) > 0 {
		good["content"] = content
	}
	all := object{fmt.Sprint(cmp.Or(rt.status, 200)): good}
	if rt.job {
		all["202"] = object{"description": "a job", "content": object{"application/json": object{"schema": d.ref(reflect.TypeFor[Started]())}}}
	}
	for _, status := range rt.statuses() {
		all[fmt.Sprint(status)] = object{"description": http.StatusText(status), "content": object{"application/problem+json": object{"schema": d.ref(reflect.TypeFor[Problem]())}}}
	}
	return all
}

// outSchema is that of an answer, of which there may be several forms.
func (d *description) outSchema(rt *route) any {
	if len(rt.others) == 0 {
		return d.ref(reflect.TypeOf(rt.out))
	}
	any := []any{d.ref(reflect.TypeOf(rt.out))}
	for _, o := range rt.others {
		any = append(any, d.ref(reflect.TypeOf(o)))
	}
	return object{"anyOf": any}
}

var (
	timeType      = reflect.TypeFor[time.Time]()
	marshalerType = reflect.TypeFor[json.Marshaler]()
)

// ref returns the schema of a type: by name where it has one.
func (d *description) ref(t reflect.Type) object {
	switch {
	case t == timeType:
		return object{"type": "string", "format": "date-time"}
	case t.Kind() == reflect.Pointer:
		inner := d.ref(t.Elem())
		if kind, ok := inner["type"].(string); ok {
			inner["type"] = []string{kind, "null"}
			return inner
		}
		return object{"anyOf": []object{inner, {"type": "null"}}}
	case t.Implements(marshalerType) || reflect.PointerTo(t).Implements(marshalerType) || t.Kind() == reflect.Interface:
		return object{}
	}
	switch t.Kind() {
	case reflect.Struct:
		return d.named(t)
	case reflect.Slice, reflect.Array:
		if t.Elem().Kind() == reflect.Uint8 {
			return object{"type": "string", "contentEncoding": "base64"}
		}
		return object{"type": []string{"array", "null"}, "items": d.ref(t.Elem())}
	case reflect.Map:
		return object{"type": []string{"object", "null"}, "additionalProperties": d.ref(t.Elem())}
	case reflect.String:
		return object{"type": "string"}
	case reflect.Bool:
		return object{"type": "boolean"}
	case reflect.Float64, reflect.Float32:
		return object{"type": "number"}
	}
	return object{"type": "integer"}
}

// named describes a struct once, among the schemas.
func (d *description) named(t reflect.Type) object {
	if t.Name() == "" {
		return d.fields(t)
	}
	name, known := d.names[t]
	if !known {
		name = strings.Trim(strings.Map(func(r rune) rune {
			if r == '[' || r == ']' || r == '*' || r == '/' {
				return '-'
			}
			return r
		}, t.Name()), "-")
		if pkg := path.Base(t.PkgPath()); pkg != "serve" {
			name = pkg + "." + name
		}
		d.names[t] = name
		d.schemas[name] = object{} // it may hold itself
		d.schemas[name] = d.fields(t)
	}
	return object{"$ref": "#/components/schemas/" + name}
}

// fields describes the fields of a struct, those of embedded ones among them.
func (d *description) fields(t reflect.Type) object {
	properties := object{}
	var required []string
	d.addFields(t, properties, &required, false)
	slices.Sort(required)
	s := object{"type": "object", "properties": properties}
	if len(required) > 0 {
		s["required"] = slices.Compact(required)
	}
	return s
}

// seldom are parts that not every answer has which they are part of.
var seldom = []string{"DiffEffect", "Games", "Exact"}

func (d *description) addFields(t reflect.Type, properties object, required *[]string, maybe bool) {
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "-" || !f.IsExported() && !f.Anonymous {
			continue
		}
		if f.Anonymous && name == "" {
			inner, pointer := f.Type, f.Type.Kind() == reflect.Pointer
			if pointer {
				inner = inner.Elem()
			}
			if inner.Kind() == reflect.Struct {
				d.addFields(inner, properties, required, maybe || pointer && slices.Contains(seldom, inner.Name()))
				continue
			}
		}
		if !f.IsExported() {
			continue
		}
		name = cmp.Or(name, f.Name)
		s := d.ref(f.Type)
		if doc := f.Tag.Get("doc"); doc != "" {
			if _, isRef := s["$ref"]; isRef {
				s = object{"allOf": []object{s}}
			}
			s["description"] = doc
		}
		properties[name] = s
		if !strings.Contains(options, "omit") && !maybe {
			*required = append(*required, name)
		}
	}
}

// described is the description as it is sent, made once.
type described struct {
	once sync.Once
	json []byte
	page []byte
	err  error
}

func (c *call) describeMe() (*described, error) {
	c.about.once.Do(func() {
		all := openAPI(c.o.Version)
		if c.about.json, c.about.err = json.Marshal(all); c.about.err == nil {
			c.about.page, c.about.err = docsPage(all)
		}
	})
	return &c.about, c.about.err
}

func (c *call) openapi() error {
	d, err := c.describeMe()
	if err != nil {
		return err
	}
	return c.send(http.StatusOK, jsonType, d.json)
}

func (c *call) docs() error {
	d, err := c.describeMe()
	if err != nil {
		return err
	}
	return c.send(http.StatusOK, []string{"text/html; charset=utf-8"}, d.page)
}

// docsTemplate is the page of docs: no script, nothing from elsewhere.
var docsTemplate = template.Must(template.New("docs").Parse(`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Accrete: what programs can ask</title><link rel="stylesheet" href="/docs.css"></head><body><main>
<h1>What programs can ask</h1>
<p>Send JSON, get JSON. For programs: <a href="/openapi.json">openapi.json</a> (OpenAPI 3.1). Where tokens are asked for, send
<code>Authorization: Bearer TOKEN</code>; scopes are read, write and admin, each with those before it.</p>
<pre>curl -H 'Content-Type: application/json' -d '{"row":{"outlook":"sunny"}}' http://127.0.0.1:8765/v1/models/weather/predict</pre>
{{range .Routes}}<section id="{{.ID}}"><h2><code>{{.Method}} {{.Path}}</code></h2><p>{{.Does}}.{{if .Scope}} <small>Scope: {{.Scope}}.{{if .Job}} A job: 202 with where to look; <code>Prefer: wait=10</code> waits for the result.{{end}}</small>{{end}}</p>
{{if .Params}}<dl>{{range .Params}}<dt><code>?{{.Name}}</code></dt><dd>{{.Doc}}</dd>{{end}}</dl>{{end}}
{{if .In}}<details><summary>Body</summary><pre>{{.In}}</pre></details>{{end}}{{if .Out}}<details><summary>Answer</summary><pre>{{.Out}}</pre></details>{{end}}
<p><small>Problems: {{.Problems}}</small></p></section>
{{end}}<section id="problems"><h2>Problems</h2><p>Every problem is a document (RFC 9457) with type, title, status, detail and remedy: what to do. Where data is wrong, row and column say where.</p>
<dl>{{range .Statuses}}<dt id="problem-{{.Status}}">{{.Status}} {{.Title}}</dt><dd>{{.Means}}</dd>{{end}}</dl>
<dl>{{range .Kinds}}<dt id="problem-{{.Kind}}">{{.Kind}}</dt><dd>{{.Words}}</dd>{{end}}</dl></section>
</main></body></html>
`))

// docsRoute is a route as the page shows it.
type docsRoute struct {
	ID, Method, Path, Does, Scope, In, Out, Problems string
	Job                                              bool
	Params                                           []docsParam
}

type docsParam struct{ Name, Doc string }

type docsStatus struct {
	Status       int
	Title, Means string
}

type docsKind struct{ Kind, Words string }

// meanings of statuses.
var meanings = []docsStatus{
	{400, "", "malformed: what came is not what the route reads"}, {401, "", "no token, or one that is unknown, expired or revoked"},
	{403, "", "the scope, the model, the host or the page that asks is not allowed"}, {404, "", "there is no such thing"}, {405, "", "another method is meant"},
	{408, "", "the body came too slowly"}, {409, "", "it exists already, or somebody else is at it"}, {412, "", "If-Match is stale: another writer won"},
	{413, "", "too large"}, {415, "", "the body is of another type"}, {422, "", "understood, but wrong; row and column say where"},
	{429, "", "too much at once; Retry-After says when"}, {500, "", "the program or the disk failed; the log has the request's id"}, {503, "", "the server is ending, or waited for too long"},
}

// docsPage writes the description for people.
func docsPage(all object) ([]byte, error) {
	schemas := all["components"].(object)["schemas"].(object)
	page := struct {
		Routes   []docsRoute
		Statuses []docsStatus
		Kinds    []docsKind
	}{}
	for i := range routes {
		rt := &routes[i]
		r := docsRoute{ID: operationID(rt), Method: rt.method, Path: rt.path, Does: rt.does, Scope: rt.scope.String(), Job: rt.job}
		for _, p := range rt.params {
			r.Params = append(r.Params, docsParam{p.name, p.doc})
		}
		r.In, r.Out = example(rt.in, schemas), example(rt.out, schemas)
		r.Problems = strings.Trim(strings.Join(strings.Fields(fmt.Sprint(rt.statuses())), ", "), "[]")
		page.Routes = append(page.Routes, r)
	}
	for _, m := range meanings {
		m.Title = http.StatusText(m.Status)
		page.Statuses = append(page.Statuses, m)
	}
	for kind, words := range routeWords {
		page.Kinds = append(page.Kinds, docsKind{string(kind), words})
	}
	slices.SortFunc(page.Kinds, func(a, b docsKind) int { return strings.Compare(a.Kind, b.Kind) })
	var b bytes.Buffer
	err := docsTemplate.Execute(&b, page)
	return b.Bytes(), err
}

// example is the schema of a value, for people.
func example(v any, schemas object) string {
	if v == nil {
		return ""
	}
	d := &description{schemas: object{}, names: map[reflect.Type]string{}}
	ref, ok := d.ref(reflect.TypeOf(v))["$ref"].(string)
	if !ok {
		return ""
	}
	text, err := json.MarshalIndent(schemas[path.Base(ref)], "", "  ")
	if err != nil {
		return ""
	}
	return string(text)
}
