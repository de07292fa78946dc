package main

import (
	"archive/zip"
	"io"
	"path/filepath"
	"regexp"
	"slices"
)

// surnamesKept limits the surnames of the census: a quarter of them are enough
// for the sequences of letters that they have.
const surnamesKept = 41_000

// xlsxString matches a string in the table of strings of a workbook (ECMA-376
// part 1 section 18.4.9).
var xlsxString = regexp.MustCompile(`<t[^>]*>([A-Z]{2,20})</t>`)

// surnames collects the surnames that a hundred people or more of the 2010
// census of the United States had. They come from every part of the world, in
// the spelling of people who type the letters a to z.
func surnames(cache string) (sections, error) {
	text, err := unzipped(filepath.Join(pypiFolder(cache, census), "data/Names_2010Census.xlsx"), "xl/sharedStrings.xml")
	if err != nil {
		return nil, err
	}
	var all []string
	for _, m := range xlsxString.FindAllSubmatch(text, -1) {
		all = append(all, string(m[1]))
	}
	slices.Sort(all)
	s := sections{}
	s.add("us last", thin(slices.Compact(all), surnamesKept)...)
	return s, nil
}

// unzipped returns one file of a zip archive.
func unzipped(archive, path string) ([]byte, error) {
	z, err := zip.OpenReader(archive)
	if err != nil {
		return nil, err
	}
	defer z.Close()
	f, err := z.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(f)
}
