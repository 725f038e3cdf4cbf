package web

import (
	"fmt"
	"html"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/accrete-ml/accrete/table"
)

// The example of AWS's own documentation ("GET Object"), to the digit.
func TestSignature(t *testing.T) {
	ask, err := http.NewRequest(http.MethodGet, "https://examplebucket.s3.amazonaws.com/test.txt", nil)
	if err != nil {
		t.Fatal(err)
	}
	ask.Header.Set("Range", "bytes=0-9")
	a := account{key: "AKIAIOSFODNN7EXAMPLE", secret: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", region: "us-east-1"}
	a.sign(ask, time.Date(2013, 5, 24, 0, 0, 0, 0, time.UTC))
	const want = "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request,SignedHeaders=host;range;x-amz-content-sha256;x-amz-date,Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"
	if got := ask.Header.Get("Authorization"); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// bucket is a server that signs what it is asked for itself, and compares; its
// files are listed two at a time. Who asks it is said in the environment.
func bucket(t *testing.T, files map[string]string) account {
	a := account{key: "KEY", secret: "geheim", token: "session", region: "eu-west-1"}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		again := r.Clone(r.Context())
		again.URL.Host = r.Host
		at, _ := time.Parse("20060102T150405Z", r.Header.Get("X-Amz-Date"))
		a.sign(again, at)
		text, known := files[r.URL.EscapedPath()]
		switch asked := r.URL.Query(); {
		case r.Header.Get("Authorization") != again.Header.Get("Authorization"):
			http.Error(w, "SignatureDoesNotMatch", http.StatusForbidden)
		case r.URL.EscapedPath() == "/elsewhere/a.csv" || r.URL.EscapedPath() == "/elsewhere/":
			w.Header().Set("X-Amz-Bucket-Region", "us-west-2")
			w.WriteHeader(http.StatusMovedPermanently)
		case asked.Get("list-type") == "2":
			list(w, files, r.URL.Path, asked.Get("prefix"), asked.Get("continuation-token"))
		case !known:
			http.NotFound(w, r)
		default:
			w.Write([]byte(text))
		}
	}))
	t.Cleanup(server.Close)
	for name, value := range map[string]string{
		"AWS_ACCESS_KEY_ID": a.key, "AWS_SECRET_ACCESS_KEY": a.secret, "AWS_SESSION_TOKEN": a.token, "AWS_REGION": a.region, "AWS_ENDPOINT_URL": server.URL,
	} {
		t.Setenv(name, value)
	}
	return a
}

// list answers as ListObjectsV2 does, two keys at a time.
func list(w http.ResponseWriter, files map[string]string, bucket, prefix, from string) {
	var keys []string
	for _, path := range slices.Sorted(maps.Keys(files)) {
		path, _ = url.PathUnescape(path)
		if key, here := strings.CutPrefix(path, bucket); here && strings.HasPrefix(key, prefix) && "/"+key > from {
			keys = append(keys, key)
		}
	}
	fmt.Fprint(w, `<?xml version="1.0"?><ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">`)
	for _, key := range keys[:min(2, len(keys))] {
		fmt.Fprintf(w, "<Contents><Key>%s</Key></Contents>", html.EscapeString(key))
	}
	if len(keys) > 2 {
		fmt.Fprintf(w, "<NextContinuationToken>%s</NextContinuationToken>", html.EscapeString("/"+keys[1]))
	}
	fmt.Fprint(w, "</ListBucketResult>")
}

func TestTableInABucket(t *testing.T) {
	a := bucket(t, map[string]string{"/visits/a%20day%2B1/t.csv": "x,y\n1,a\n2,b\n"})
	got, report, err := table.ReadFrom(t.Context(), "s3://visits/a day+1/t.csv", table.Options{})
	if err != nil || got.Rows() != 2 || report.Address != "s3://visits/a day+1/t.csv" {
		t.Errorf("%+v: %v", report, err)
	}
	for address, want := range map[string]string{
		"s3://visits/none.csv":     "404",
		"s3://elsewhere/a.csv":     "set AWS_REGION",
		"s3://elsewhere/*.csv":     "set AWS_REGION",
		"s3://":                    "no address",
		"s3://visits/2026-*.csv":   "no tables here",
		"s3://visits/[z-a]*.csv":   "no pattern",
		"s3://visits/no%way/t.csv": "no address",
	} {
		if _, _, err := table.ReadFrom(t.Context(), address, table.Options{}); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), a.secret) {
			t.Errorf("%s: %v", address, err)
		}
	}
	t.Setenv("AWS_SECRET_ACCESS_KEY", "another")
	for _, address := range []string{"s3://visits/a day+1/t.csv", "s3://visits/"} {
		if _, _, err := table.ReadFrom(t.Context(), address, table.Options{}); err == nil || !strings.Contains(err.Error(), "403") {
			t.Errorf("%s: %v", address, err)
		}
	}
}

// Files of a bucket are one table, by a pattern or a folder, as files here are.
func TestManyFilesInABucket(t *testing.T) {
	bucket(t, map[string]string{
		"/visits/year%3D2025/one%20%26%20only.csv": "x,y\n1,a\n2,b\n",
		"/visits/year%3D2026/a.csv":                "x,y\n3,a\n",
		"/visits/year%3D2026/b.csv":                "x,y\n4,c\n",
		"/visits/year%3D2026/_tmp/c.csv":           "x,y\n5,c\n",
		"/visits/year%3D2026/notes.txt":            "no table",
		"/other/a.csv":                             "x,y\n1,a\n",
		"/other/b.csv":                             "x,z\n1,a\n",
	})
	for address, rows := range map[string]int{"s3://visits": 4, "s3://visits/": 4, "s3://visits/year=2026/": 2, "s3://visits/year=2026/[ab]*": 2, "s3://visits/**/*only.csv": 2, "s3://visits/*/*.csv": 4} {
		got, report, err := table.ReadFrom(t.Context(), address, table.Options{Nominal: []string{"year"}})
		if err != nil || got.Rows() != rows || got.Schema.Index("year") != 2 || report.Hash == "" {
			t.Errorf("%s: %+v: %v", address, report, err)
		}
	}
	if _, _, err := table.ReadFrom(t.Context(), "s3://other/", table.Options{}); err == nil || !strings.Contains(err.Error(), `s3://other/b.csv: has no column "y", which s3://other/a.csv has`) {
		t.Error(err)
	}
}
