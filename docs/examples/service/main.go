// Command service answers questions by a model: POST /ask with a row as JSON
// gives the class, its probability and the reasons. The model is a file that
// accrete export wrote; POST /reload reads it again, while questions go on.
//
//	accrete learn people.csv --target income && accrete export people people.accrete
//	go run ./docs/examples/service people.accrete
//	curl localhost:8080/ask -d '{"age": 41, "education": "Masters"}'
package main

import (
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"os"
	"sync/atomic"
	"time"

	"github.com/accrete-ml/accrete"
)

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: service MODEL.accrete")
	}
	s := &service{path: os.Args[1]}
	if err := s.load(); err != nil {
		log.Fatal(err)
	}
	server := &http.Server{Addr: "localhost:8080", Handler: s.routes(), ReadHeaderTimeout: 5 * time.Second}
	log.Fatal(server.ListenAndServe())
}

// service answers by the model that was loaded last. A model never changes, so
// any number of questions may be asked at once.
type service struct {
	path  string
	model atomic.Pointer[accrete.Model]
}

func (s *service) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /ask", s.ask)
	mux.HandleFunc("POST /reload", func(w http.ResponseWriter, _ *http.Request) {
		if err := s.load(); err != nil { // the model that is there goes on answering
			http.Error(w, err.Error(), http.StatusInternalServerError)
		}
	})
	return mux
}

func (s *service) load() error {
	m, err := accrete.Load(s.path)
	if err != nil {
		return err
	}
	s.model.Store(m)
	return nil
}

func (s *service) ask(w http.ResponseWriter, r *http.Request) {
	var row map[string]any
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 1<<20)).Decode(&row); err != nil {
		http.Error(w, fmt.Sprintf("a row is an object of cells by their columns: %v", err), http.StatusBadRequest)
		return
	}
	answer, err := s.model.Load().Ask(row)
	if err != nil {
		http.Error(w, err.Error(), http.StatusUnprocessableEntity)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(answer)
}
