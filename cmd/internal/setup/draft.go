package setup

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"solarmirror/cmd/internal/config"
	"solarmirror/cmd/internal/words"
	"solarmirror/store/sqlitefile"
)

// Draft is a configuration that is not written yet.
type Draft struct {
	Path      string // of the configuration file
	BaseURL   string
	TokenFile string
	Token     config.Secret // to be written to TokenFile; "" when that file exists
	CheckWith string        // the command that checks a file at Path
}

// Config loads the draft below the environment. The token is in it, so that it can be tried before
// anything is written.
func (d Draft) Config(environ []string) (config.Config, error) {
	text, err := config.Example(map[string]string{"platform.token_file": d.TokenFile})
	if err != nil {
		return config.Config{}, err
	}
	c, err := config.Load(config.Source{
		Path: d.Path, Text: text, Environ: environ,
		Flags: []config.Flag{{Name: "--base-url", Key: "platform.base_url", Value: d.BaseURL}},
	})
	if d.Token != "" {
		c.Platform.Token, c.Platform.TokenFile = d.Token, ""
	}
	return c, err
}

// Check returns an error when [Draft.Write] would have to overwrite a file, or when a directory that
// exists is not as private as the outbox wants it.
func (d Draft) Check(c config.Config) error {
	switch info, err := os.Lstat(d.Path); {
	case err == nil && info.IsDir():
		return fmt.Errorf("%s is a directory; name a file: --config %s", d.Path, words.ShellWord(filepath.Join(d.Path, config.DefaultPath)))
	case err == nil:
		return fmt.Errorf("%s is there already, and nothing is overwritten; to check it: %s", d.Path, d.CheckWith)
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	return sqlitefile.CheckPrivate(filepath.Dir(c.Outbox.Path))
}

// CheckTokenFile returns an error when the token file that [Draft.Write] would write exists.
func (d Draft) CheckTokenFile() error {
	if _, err := os.Lstat(d.TokenFile); !errors.Is(err, fs.ErrNotExist) {
		if err != nil {
			return err
		}
		return fmt.Errorf("%s is there already, and nothing is overwritten; if it holds the token, add --token-file %s", d.TokenFile, words.ShellWord(d.TokenFile))
	}
	return nil
}

// Write creates the directories of c that are missing, the token file and the configuration. When
// one of them fails, it removes what it has created.
func (d Draft) Write(c config.Config) (err error) {
	text, err := config.Example(map[string]string{"platform.base_url": d.BaseURL, "platform.token_file": d.TokenFile})
	if err != nil {
		return err
	}
	var created []string
	defer func() {
		for i := len(created) - 1; err != nil && i >= 0; i-- {
			err = errors.Join(err, os.Remove(created[i]))
		}
	}()
	directory := func(file string, mode fs.FileMode) error {
		missing := missingDirs(filepath.Dir(file))
		err := sqlitefile.MakeDir(filepath.Dir(file), mode)
		for _, dir := range missing {
			if _, statErr := os.Stat(dir); statErr == nil {
				created = append(created, dir)
			}
		}
		return err
	}
	file := func(path, content string) error {
		f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		if err != nil {
			return err
		}
		created = append(created, path)
		_, err = f.WriteString(content)
		return errors.Join(err, f.Sync(), f.Close())
	}
	if err := errors.Join(directory(c.Outbox.Path, 0o700), directory(c.Mirror.Path, 0o755), directory(d.Path, 0o700)); err != nil {
		return err
	}
	if d.Token != "" {
		if err := file(d.TokenFile, d.Token.Reveal()+"\n"); err != nil {
			return err
		}
	}
	return file(d.Path, text)
}

// missingDirs returns the directories that are missing on the way to path, the outermost first.
func missingDirs(path string) []string {
	if _, err := os.Stat(path); err == nil || filepath.Dir(path) == path {
		return nil
	}
	return append(missingDirs(filepath.Dir(path)), path)
}
