package main

import (
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"os"
)

func main() {
	request, err := http.NewRequest(http.MethodGet, "http://127.0.0.1:8080/v1/usage", nil)
	if err != nil {
		log.Fatal(err)
	}
	request.Header.Set("X-API-Key", os.Getenv("ADDRSPEC_KEY"))
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		log.Fatal(err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		log.Fatal(response.Status)
	}
	var usage struct {
		Points struct {
			Used  int
			Limit *int // nil is unlimited
		}
	}
	if err := json.NewDecoder(response.Body).Decode(&usage); err != nil {
		log.Fatal(err)
	}
	limit := "unlimited"
	if usage.Points.Limit != nil {
		limit = fmt.Sprint(*usage.Points.Limit)
	}
	fmt.Println("points:", usage.Points.Used, "of", limit)
}
