package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/addrspec/addrspec/lists/feed"
	"github.com/addrspec/addrspec/lists/feed/prompt"
)

// sumsFile lists the digest of every other file, in the form that sha256sum -c reads.
const sumsFile = "SHA256SUMS"

// sums writes SHA256SUMS.
func (r *release) sums(context.Context) error {
	if err := os.RemoveAll(r.inOut(workDirectory)); err != nil {
		return err
	}
	list, err := digests(r.out)
	if err != nil {
		return err
	}
	return os.WriteFile(r.inOut(sumsFile), list, 0o644)
}

// digests returns a line for each file in and below dir, by name, but not for the
// list and its signature.
func digests(dir string) ([]byte, error) {
	var list bytes.Buffer
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil || name == sumsFile || name == signatureFile {
			return err
		}
		digest, err := digestFile(path)
		fmt.Fprintf(&list, "%s  %s\n", digest, filepath.ToSlash(name))
		return err
	})
	return list.Bytes(), err
}

// digestFile returns the SHA-256 of a file in hexadecimal.
func digestFile(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	hash := sha256.New()
	if _, err := io.Copy(hash, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(hash.Sum(nil)), nil
}

// signatureFile is minisign's name for the signature of SHA256SUMS.
const signatureFile = sumsFile + ".minisig"

// checkKey reads the secret key, to fail before the minutes of building. It asks for the
// password if the key has one.
func (r *release) checkKey() error {
	if r.key == "" {
		return nil
	}
	text, err := os.ReadFile(r.key)
	if err != nil {
		return fmt.Errorf("the key that signs: %w", err)
	}
	secret, err := feed.ParseSecretKey(text, func() (string, error) {
		return prompt.Password(os.Stdin, os.Stderr, "Password of "+r.key+": ")
	})
	if err != nil {
		return fmt.Errorf("the key that signs: %s: %w", r.key, err)
	}
	r.secret = &secret
	return nil
}

// sign signs SHA256SUMS, and so every file. The time in the trusted comment is that of
// the commit: the same key gives the same signature.
func (r *release) sign(context.Context) error {
	if r.secret == nil {
		r.skip(signatureFile + ": give the secret key with --sign; 'addrspec lists keygen release.key' makes one")
		return nil
	}
	sums, err := os.ReadFile(r.inOut(sumsFile))
	if err != nil {
		return err
	}
	comment := fmt.Sprintf("addrspec release version:%s commit:%s time:%d", r.version, r.label(), r.time.Unix())
	signature, err := r.secret.SignFile(sums, comment)
	if err != nil {
		return err
	}
	fmt.Fprintf(r.log, "   signed with the key %s\n", r.secret.Public())
	return os.WriteFile(r.inOut(signatureFile), signature, 0o644)
}

// verifyCommand builds the commit of HEAD again, in a clone in another directory and with
// an empty cache of compiled code, and compares the result with the release that is
// there, file by file. With -warm it uses the user's cache, which takes a part of the time
// but does not show whether the compiler itself gives the same bytes again.
func verifyCommand(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("verify", flag.ContinueOnError)
	directory := flags.String("o", "", "directory of the release; dist/release if not given")
	warm := flags.Bool("warm", false, "use the cache of compiled code")
	if err := flags.Parse(args); err != nil || flags.NArg() > 0 {
		return usageError{errors.Join(err, errors.New("verify takes only -o DIRECTORY and -warm"))}
	}
	t, err := openTree(ctx)
	if err != nil {
		return err
	}
	if t.dirty {
		return errors.New("the tree differs from its commit, which is what would be built: commit or remove the changes (git status)")
	}
	first := t.outputDirectory(*directory)
	if err := checkSums(first); err != nil {
		return err
	}
	temp, err := os.MkdirTemp("", "addrspec-verify-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	clone := filepath.Join(temp, "a directory with another name", "clone")
	if _, err := git(ctx, t.root, "clone", "--quiet", "--no-checkout", t.root, clone); err != nil {
		return err
	}
	if _, err := git(ctx, clone, "checkout", "--quiet", "--detach", t.commit); err != nil {
		return err
	}
	fmt.Fprintf(out, "building %s again in %s\n", t.label(), clone)
	cmd := exec.CommandContext(ctx, "./build.sh", "release")
	cmd.Dir, cmd.Stdout = clone, out
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if !*warm {
		cmd.Env = append(os.Environ(), "GOCACHE="+filepath.Join(temp, "cache"))
	}
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("the second build: %w\n%s", err, &stderr)
	}
	return compare(first, filepath.Join(clone, "dist/release"), out)
}

// checkSums returns an error unless SHA256SUMS has every file as it is.
func checkSums(dir string) error {
	want, err := os.ReadFile(filepath.Join(dir, sumsFile))
	if err != nil {
		return fmt.Errorf("%w: build the release first", err)
	}
	got, err := digests(dir)
	if err != nil {
		return err
	}
	if different := differences(want, got); len(different) > 0 {
		return fmt.Errorf("files of %s are not those of its %s: %s", dir, sumsFile, strings.Join(different, ", "))
	}
	return nil
}

// compare returns an error that names the files in which two releases differ. The
// signature is not compared, since the second build has no key; the sums that it signs
// are.
func compare(first, second string, out io.Writer) error {
	a, err := os.ReadFile(filepath.Join(first, sumsFile))
	if err != nil {
		return err
	}
	b, err := os.ReadFile(filepath.Join(second, sumsFile))
	if err != nil {
		return err
	}
	if different := differences(a, b); len(different) > 0 {
		return fmt.Errorf("two builds of the same commit differ in: %s", strings.Join(different, ", "))
	}
	fmt.Fprintf(out, "the same bytes in both directories: %d files\n", bytes.Count(a, []byte("\n")))
	return nil
}

// differences returns the names to which two SHA256SUMS give different digests, or that
// only one of them has.
func differences(first, second []byte) (names []string) {
	digests := map[string][2]string{}
	for n, sums := range [][]byte{first, second} {
		for line := range strings.Lines(string(sums)) {
			digest, name, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "  ")
			both := digests[name]
			both[n] = digest
			digests[name] = both
		}
	}
	for _, name := range slices.Sorted(maps.Keys(digests)) {
		if digests[name][0] != digests[name][1] {
			names = append(names, name)
		}
	}
	return names
}
