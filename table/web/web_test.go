package web_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/table"
	_ "github.com/accrete-ml/accrete/table/web"
)

func TestTableOnTheWeb(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path != "/t.csv":
			http.NotFound(w, r)
		default:
			w.Write([]byte("x,y\n1,a\n2,b\n"))
		}
	}))
	defer server.Close()
	address := strings.Replace(server.URL, "://", "://me:geheim@", 1)
	got, report, err := table.ReadFrom(t.Context(), address+"/t.csv?token=geheim", table.Options{})
	if err != nil || got.Rows() != 2 || report.Hash == "" || strings.Contains(report.Address, "geheim") {
		t.Errorf("%+v: %v", report, err)
	}
	if _, _, err = table.ReadFrom(t.Context(), address+"/none.csv", table.Options{}); err == nil || !strings.Contains(err.Error(), "404") || strings.Contains(err.Error(), "geheim") {
		t.Error(err)
	}
	server.Close()
	if _, _, err = table.ReadFrom(t.Context(), address+"/t.csv", table.Options{}); err == nil || strings.Contains(err.Error(), "geheim") {
		t.Error(err)
	}
}
