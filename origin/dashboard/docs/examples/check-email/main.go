package main

import (
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"net/url"
	"os"
)

func main() {
	target := "http://127.0.0.1:8080/v1/email/" + url.PathEscape("jane.doe+news@hotmial.com")
	request, err := http.NewRequest(http.MethodGet, target, nil)
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
		log.Fatal(response.Status) // see the guide "Handle errors"
	}
	var result struct {
		Valid          bool
		Disposable     bool
		TypoSuggestion *string `json:"typo_suggestion"`
	}
	if err := json.NewDecoder(response.Body).Decode(&result); err != nil {
		log.Fatal(err)
	}
	fmt.Println("valid:", result.Valid)
	if result.TypoSuggestion != nil {
		fmt.Println("perhaps meant:", *result.TypoSuggestion)
	}
}
