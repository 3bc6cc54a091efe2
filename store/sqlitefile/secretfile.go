package sqlitefile

import (
	"context"
	"fmt"
	"io"
	"os"
	"syscall"
)

// maxSecret is the largest secret file that is read, in bytes.
const maxSecret = 64 << 10

// ReadSecretFile reads a token or key file. path must be a regular file of at most 64 KiB, or a
// symbolic link to one. ReadSecretFile returns when ctx ends, even if the file system hangs. Its
// errors name the file and never quote its content.
func ReadSecretFile(ctx context.Context, path string) ([]byte, error) {
	type result struct {
		content []byte
		err     error
	}
	read := make(chan result, 1)
	go func() {
		content, err := readSecret(path)
		read <- result{content, err}
	}()
	select {
	case r := <-read:
		return r.content, r.err
	case <-ctx.Done():
		return nil, fmt.Errorf("read %s: %w", path, ctx.Err())
	}
}

func readSecret(path string) ([]byte, error) {
	// Without O_NONBLOCK, opening a named pipe would wait for a writer.
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is no regular file (%s): name one that holds the secret alone", path, info.Mode())
	}
	content, err := io.ReadAll(io.LimitReader(f, maxSecret+1))
	if err == nil && len(content) > maxSecret {
		return nil, fmt.Errorf("%s is larger than 64 KiB: name a file that holds the secret alone", path)
	}
	return content, err
}
