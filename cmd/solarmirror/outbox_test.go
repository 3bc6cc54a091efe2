package main

import (
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// TestNoSecretOnTheCommandLine: every user of the machine can read the arguments of a process, so no flag may take a secret.
func TestNoSecretOnTheCommandLine(t *testing.T) {
	t.Parallel()
	secret := regexp.MustCompile(`password|token|secret|key$`)
	flags := 0
	visit(newRootCommand(newApp(nil, nil, nil)), func(cmd *cobra.Command) {
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			flags++
			if secret.MatchString(f.Name) && !strings.HasSuffix(f.Name, "-file") { // the place of a secret is none
				t.Errorf("%q has a flag --%s", cmd.CommandPath(), f.Name)
			}
		})
	})
	if flags == 0 {
		t.Error("no flag was looked at")
	}
}
