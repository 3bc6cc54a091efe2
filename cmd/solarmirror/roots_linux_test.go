package main

import (
	"crypto/x509"
	"os"
	"os/exec"
	"testing"
)

// TestAuthoritiesWithoutASystem runs itself again as if in an image without certificates: the pool of the system is read once for a process.
func TestAuthoritiesWithoutASystem(t *testing.T) {
	t.Parallel()
	const without = "AUTHORITIES_TEST_WITHOUT"
	if os.Getenv(without) != "" {
		pool, err := x509.SystemCertPool()
		if err != nil {
			t.Fatal(err)
		}
		if pool.Equal(x509.NewCertPool()) {
			t.Fatal("no authority is trusted, so no platform could be reached over https")
		}
		return
	}
	again := exec.Command(os.Args[0], "-test.run=^TestAuthoritiesWithoutASystem$")
	again.Env = append(os.Environ(), without+"=1", "SSL_CERT_FILE=/nonexistent", "SSL_CERT_DIR=/nonexistent")
	if output, err := again.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, output)
	}
}
