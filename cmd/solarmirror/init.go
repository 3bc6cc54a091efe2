package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/rs/zerolog"
	"github.com/spf13/cobra"

	"solarmirror/cmd/internal/config"
	"solarmirror/cmd/internal/doctor"
	"solarmirror/cmd/internal/setup"
	"solarmirror/cmd/internal/terminal"
	"solarmirror/sync/platform"
)

// tokenFileName is the file that init keeps the token in, beside the configuration.
const tokenFileName = "platform-token"

func newInitCommand(a *app) *cobra.Command {
	var baseURL, tokenFile string
	var yes bool
	cmd := &cobra.Command{
		Use:   "init",
		Short: "Set up: ask for address and token, try them, write config.toml",
		Long: `Ask for the platform's address and token, and try both. Then write:

  config.toml      every key with its meaning; --config names another place
  platform-token   the token, beside it; --token-file names a file that you have
  data/…           the directories of mirror and outbox, where they are missing

Both files have mode 0600. Then the checks of "solarmirror doctor" run. Nothing is overwritten, and
nothing is written before the platform has accepted the token.`,
		Example: "  solarmirror init\n  solarmirror init --base-url https://sales.example.com --token-file /run/secrets/platform-token --yes",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			i, err := a.newInitiation(baseURL, tokenFile)
			if err != nil {
				return err
			}
			switch {
			case yes && (baseURL == "" || tokenFile == ""):
				return &usageError{command: cmd.CommandPath(), err: errors.New("--yes asks nothing, so it needs --base-url and --token-file")}
			case yes:
				err = i.connect(cmd.Context())
			case !terminal.Is(a.stdin):
				return &usageError{command: cmd.CommandPath(), err: errors.New("there is no terminal to ask on; give --base-url, --token-file and --yes")}
			default:
				err = i.ask(cmd.Context(), terminal.NewDialogue(a.stdin, a.stderr))
			}
			if err != nil {
				return fmt.Errorf("nothing was written: %w", err)
			}
			return i.write(cmd.Context())
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&baseURL, "base-url", "", "`address` of the platform, without /api/v2")
	flags.StringVar(&tokenFile, "token-file", "", "a `file` that holds the token and nothing else; it stays where it is")
	flags.BoolVar(&yes, "yes", false, "do not ask")
	return cmd
}

// initiation is one run of init.
type initiation struct {
	*app
	draft     setup.Draft
	asksToken bool
}

// newInitiation refuses what could not be written in the end, before anything is asked.
func (a *app) newInitiation(baseURL, tokenFile string) (*initiation, error) {
	path := cmp.Or(a.flags.configPath, config.DefaultPath)
	i := &initiation{app: a, asksToken: tokenFile == "", draft: setup.Draft{
		Path: path, BaseURL: strings.TrimSpace(baseURL), CheckWith: a.line("config", "check"),
		TokenFile: cmp.Or(tokenFile, filepath.Join(filepath.Dir(path), tokenFileName)),
	}}
	for _, name := range []string{"SOLARMIRROR_PLATFORM_BASE_URL", "SOLARMIRROR_PLATFORM_TOKEN", "SOLARMIRROR_PLATFORM_TOKEN_FILE"} {
		if os.Getenv(name) != "" {
			return nil, &config.Error{Problems: []string{name + " is set and would win over the file: unset it, or keep it and do without init"}}
		}
	}
	c, err := i.draft.Config(os.Environ())
	if err != nil {
		return nil, err
	}
	if err := i.draft.Check(c); err != nil || !i.asksToken {
		return i, err
	}
	return i, i.draft.CheckTokenFile()
}

// line is a command to type, with the same configuration.
func (a *app) line(args ...string) string {
	if a.flags.configPath != "" {
		args = append([]string{"--config", a.flags.configPath}, args...)
	}
	return commandLine(args)
}

// connect tries the draft on the platform. Without a token it asks for no record.
func (i *initiation) connect(ctx context.Context) error {
	if i.draft.BaseURL == "" {
		return &config.Error{Problems: []string{"the address is missing; want one such as https://sales.example.com"}}
	}
	c, err := i.draft.Config(os.Environ())
	if err != nil {
		return err
	}
	if i.asksToken && i.draft.Token == "" {
		c.Platform.TokenFile = ""
	}
	return doctor.Connect(ctx, doctor.Options{ConfigPath: i.draft.Path, Config: c, Log: zerolog.Nop()})
}

// ask asks for address and token, each again until the platform accepts it.
func (i *initiation) ask(ctx context.Context, d *terminal.Dialogue) error {
	err := d.Run(ctx, func() error {
		for given := i.draft.BaseURL != ""; ; given = false {
			if !given {
				if err := i.askAddress(d); err != nil {
					return err
				}
			}
			i.draft.Token = ""
			err := i.try(ctx, d)
			for i.asksToken && (err == nil || isRefusal(err)) {
				if err != nil {
					d.Tell(terminal.HarmlessLines(err.Error()))
				}
				if err := i.askToken(d); err != nil {
					return err
				}
				if err = i.try(ctx, d); err == nil {
					return nil
				}
			}
			if err == nil || isRefusal(err) || ctx.Err() != nil {
				return err
			}
			i.tellRefused(d, err)
		}
	})
	if errors.Is(err, io.EOF) {
		return errors.New("the input ended before all was answered")
	}
	return err
}

// try is connect for a person, who may type on while the platform is slow.
func (i *initiation) try(ctx context.Context, d *terminal.Dialogue) error {
	if i.draft.BaseURL != "" {
		d.Tell("asking …")
	}
	return d.Hushed(func() error { return i.connect(ctx) })
}

// tellRefused says what is wrong with the address. One that is none is not offered again.
func (i *initiation) tellRefused(d *terminal.Dialogue, err error) {
	text := err.Error()
	var faults *config.Error
	if errors.As(err, &faults) {
		text = strings.ReplaceAll(strings.Join(faults.Problems, "; "), "--base-url: ", "the address: ")
		i.draft.BaseURL = ""
	}
	d.Tell(terminal.HarmlessLines(text))
}

// isRefusal reports whether the token is at fault, and not the address.
func isRefusal(err error) bool {
	var refused *platform.AuthError
	return errors.As(err, &refused)
}

func (i *initiation) askAddress(d *terminal.Dialogue) error {
	question := "Address of the platform: "
	if i.draft.BaseURL != "" {
		question = "Address of the platform [" + terminal.Harmless(i.draft.BaseURL) + "]: "
	}
	answer, err := d.Ask(question)
	i.draft.BaseURL = cmp.Or(answer, i.draft.BaseURL)
	return err
}

func (i *initiation) askToken(d *terminal.Dialogue) error {
	for {
		answer, err := d.AskHidden("Access token (not shown): ")
		i.draft.Token = config.Secret(strings.TrimSpace(answer))
		if err != nil || i.draft.Token != "" {
			return err
		}
		d.Tell("The token is missing.")
	}
}

// write writes the files, runs the checks of doctor and says what is next.
func (i *initiation) write(ctx context.Context) error {
	c, err := i.draft.Config(os.Environ())
	if err != nil {
		return err
	}
	if err := i.draft.Write(c); err != nil {
		return fmt.Errorf("nothing was written: %w", err)
	}
	fmt.Fprintf(i.stdout, "Wrote %s; the token is in %s.\n", i.draft.Path, i.draft.TokenFile)
	d, err := doctor.Run(ctx, i.doctorOptions())
	if err != nil {
		return err
	}
	for _, f := range d.Checks {
		if f.Verdict == doctor.Warning || f.Verdict == doctor.Failed {
			fmt.Fprintf(i.stdout, "%s: %s: %s; %s\n", f.Verdict, f.Check, terminal.Harmless(f.What), terminal.Harmless(f.Remedy))
		}
	}
	if err := d.Err(); err != nil {
		return err
	}
	here, err := os.Getwd()
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(i.stdout, `The checks of "solarmirror doctor" passed. Next, in %s, where the paths of the configuration start:

  %s      read everything for the first time
  %s    see what was read, and how old it is
  %s       do it on a schedule, with a status page
`, here, i.line("sync"), i.line("status"), i.line("run"))
	return err
}
