// Command service answers questions by a model: POST /ask with a row as JSON
// gives the class, its probability and the reasons. The model is a file that
// accrete export wrote; SIGHUP reads it again, while questions go on.
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
	"os/signal"
	"sync/atomic"
	"syscall"
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
	again := make(chan os.Signal, 1)
	signal.Notify(again, syscall.SIGHUP)
	go func() {
		for range again {
			if err := s.load(); err != nil {
				log.Print(err) // the model that is there goes on answering
			}
		}
	}()
	server := &http.Server{Addr: "localhost:8080", Handler: s, ReadHeaderTimeout: 5 * time.Second}
	log.Fatal(server.ListenAndServe())
}

// service answers by the model that was loaded last. A model never changes, so
// any number of questions may be asked at once.
type service struct {
	path  string
	model atomic.Pointer[accrete.Model]
}

func (s *service) load() error {
	m, err := accrete.Load(s.path)
	if err != nil {
		return err
	}
	s.model.Store(m)
	return nil
}

// ServeHTTP answers POST /ask.
func (s *service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost || r.URL.Path != "/ask" {
		http.Error(w, "POST a row as JSON to /ask", http.StatusNotFound)
		return
	}
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
