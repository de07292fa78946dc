package bindings_test

import (
	"path/filepath"
	"testing"
)

func init() {
	bindings["Java"] = java
}

// java builds only if a source has changed, since Maven takes 5 s of CPU time even
// if there is nothing to do.
func java(t *testing.T) []string {
	program, target := find(t, "java"), filepath.Join(cache(t), "java")
	jar := filepath.Join(target, "addrspec-host.jar")
	if !upToDate(jar, "java/pom.xml", "java/src/main/java/Addrspec.java") {
		build(t, "java", find(t, "mvn"), "--quiet", "--batch-mode", "package", "-Dtarget="+target)
	}
	// The first tier of the JIT compiler alone halves the CPU time of these runs,
	// and a collector without threads of its own saves another 5 %.
	return []string{program, "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-jar", jar}
}
