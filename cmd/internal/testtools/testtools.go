// Package testtools finds other people's programs for tests: readers of the mirror that nobody here wrote, browsers, checkers.
//
// Users build and test this module with Go alone, so a test whose program is missing is skipped and says what to
// install. Where TEST_TOOLS is "all", as in .ci/run, it fails instead, so that a test cannot stay out unnoticed. Where it is
// "none" the test is skipped even if the program is there: under the race detector, which sees nothing of other programs.
//
// What a test needs the system's leave for, such as tracing a program or mounting a file system, nobody can install: where it is refused the test is
// skipped all the same ([Refused]), and says so.
//
// .ci/tools/install installs everything: the Debian packages of .ci/tools/debian.txt, the npm packages of .ci/tools/package.json
// and the Go programs of .ci/tools/go.txt. To use another program, add it to one of these lists; asking for one that is not
// listed fails anywhere.
package testtools

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// variable says what becomes of a test whose program is missing.
const variable = "TEST_TOOLS" // SOLARMIRROR_ would make it a setting of the program

// Program returns the path of a program on the PATH that comes with a Debian package.
func Program(t testing.TB, name, debianPackage string) string {
	t.Helper()
	listedInDebian(t, debianPackage)
	path, err := exec.LookPath(name)
	if err != nil {
		missing(t, name, debianPackage)
	}
	return path
}

// File returns the path of a file that comes with a Debian package. The pattern is that of [filepath.Glob], since libraries
// stand in a directory named for the machine.
func File(t testing.TB, pattern, debianPackage string) string {
	t.Helper()
	listedInDebian(t, debianPackage)
	paths, err := filepath.Glob(pattern)
	if err != nil {
		t.Fatal(err)
	}
	if len(paths) == 0 {
		missing(t, pattern, debianPackage)
	}
	return paths[0]
}

// Python returns the path of Debian's Python, which has a module that comes with a Debian package.
func Python(t testing.TB, module, debianPackage string) string {
	t.Helper()
	listedInDebian(t, debianPackage)
	const python = "/usr/bin/python3" // another one on the PATH would not have Debian's modules
	if exec.Command(python, "-c", "import "+module).Run() != nil {
		missing(t, "Python's "+module, debianPackage)
	}
	return python
}

// Node returns the command that runs a JavaScript module, given as text, where it can import an npm
// package. An optional package, compiled where its binary cannot be fetched, may be missing
// whatever TEST_TOOLS says.
func Node(t testing.TB, npmPackage, script string, args ...string) *exec.Cmd {
	t.Helper()
	unwanted(t)
	isOptional := listedInNPM(t, npmPackage)
	node := Program(t, "node", "nodejs")
	if _, err := os.Stat(filepath.Join(tools(t), "node_modules", filepath.FromSlash(npmPackage))); err != nil {
		if isOptional {
			t.Skipf("needs npm's %s; .ci/tools/install installs it where it can be fetched or compiled", npmPackage)
		}
		missing(t, npmPackage, "npm's "+npmPackage)
	}
	cmd := exec.Command(node, append([]string{"--input-type=module", "--eval", script, "--"}, args...)...)
	cmd.Dir = tools(t)
	return cmd
}

// GoProgram returns the path of a program that is built from Go source.
func GoProgram(t testing.TB, name string) string {
	t.Helper()
	unwanted(t)
	list, err := os.ReadFile(filepath.Join(tools(t), "go.txt"))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(list), "/"+name+"@") {
		t.Fatalf("%s is not in .ci/tools/go.txt, so .ci/run would not have it: add it there", name)
	}
	path := filepath.Join(tools(t), "bin", name)
	if _, err := os.Stat(path); err != nil {
		missing(t, name, name)
	}
	return path
}

// Refused skips a test that the system keeps from doing what it is about, whatever TEST_TOOLS says.
func Refused(t testing.TB, what string, cause any) {
	t.Helper()
	t.Skipf("this system does not let this user %s: %v", what, cause)
}

func missing(t testing.TB, what, from string) {
	t.Helper()
	if os.Getenv(variable) == "all" {
		t.Fatalf("%s is missing, and %s=all; .ci/tools/install installs %s", what, variable, from)
	}
	t.Skipf("needs %s; .ci/tools/install installs %s", what, from)
}

// unwanted skips a test where no other programs are wanted.
func unwanted(t testing.TB) {
	t.Helper()
	if os.Getenv(variable) == "none" {
		t.Skipf("%s=none: no other people's programs", variable)
	}
}

func listedInDebian(t testing.TB, debianPackage string) {
	t.Helper()
	unwanted(t)
	list, err := os.ReadFile(filepath.Join(tools(t), "debian.txt"))
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(strings.Fields(string(list)), debianPackage) {
		t.Fatalf("%s is not in .ci/tools/debian.txt, so .ci/run would not have it: add it there", debianPackage)
	}
}

func listedInNPM(t testing.TB, npmPackage string) (isOptional bool) {
	t.Helper()
	list, err := os.ReadFile(filepath.Join(tools(t), "package.json"))
	if err != nil {
		t.Fatal(err)
	}
	var wanted struct{ Dependencies, OptionalDependencies map[string]string }
	if err := json.Unmarshal(list, &wanted); err != nil {
		t.Fatal(err)
	}
	isOptional = wanted.OptionalDependencies[npmPackage] != ""
	if wanted.Dependencies[npmPackage] == "" && !isOptional {
		t.Fatalf("%s is not in .ci/tools/package.json, so .ci/run would not have it: add it there", npmPackage)
	}
	return isOptional
}

// tools is .ci/tools, which is above the package whose test this is: Go runs each test in the directory of its package.
func tools(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for here := dir; ; here = filepath.Dir(here) {
		tools := filepath.Join(here, ".ci", "tools")
		if _, err := os.Stat(tools); err == nil {
			return tools
		}
		if here == filepath.Dir(here) {
			t.Fatalf("%s is in no checkout of this project: there is no .ci/tools above it", dir)
		}
	}
}
