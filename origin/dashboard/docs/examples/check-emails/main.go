package main

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"os"
)

type batch struct {
	UsagePoints int `json:"usage_points"`
	Results     []struct {
		Email  string
		Status string
		Result *struct {
			Valid bool
			Typo  bool
		}
		Error *struct{ Code, Message string }
	}
}

func main() {
	body, err := json.Marshal(map[string][]string{
		"emails": {"jane@example.org", "info@hotmial.com"},
	})
	if err != nil {
		log.Fatal(err)
	}
	request, err := http.NewRequest(http.MethodPost, "http://127.0.0.1:8080/v1/emails", bytes.NewReader(body))
	if err != nil {
		log.Fatal(err)
	}
	request.Header.Set("X-API-Key", os.Getenv("ADDRSPEC_KEY"))
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Idempotency-Key", rand.Text()) // the same one if you send this batch again
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		log.Fatal(err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		log.Fatal(response.Status)
	}
	var resp batch
	if err := json.NewDecoder(response.Body).Decode(&resp); err != nil {
		log.Fatal(err)
	}
	for _, item := range resp.Results {
		if item.Error != nil {
			fmt.Println(item.Email, item.Error.Code)
			continue
		}
		fmt.Println(item.Email, "valid:", item.Result.Valid, "typo:", item.Result.Typo)
	}
	fmt.Println("points:", resp.UsagePoints)
}
