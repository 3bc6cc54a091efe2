package platform

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"
)

func testCompany() Company {
	return Company{
		Name: "Anastácia", Email: "ana@example.com", Password: `Canary&"p4ss`, CNPJ: "11.222.333/0001-81", Cellphone: "(11) 91234-5678",
		Address: CompanyAddress{State: "SP"},
	}
}

func create(t *testing.T, c *Client) CreateResult {
	t.Helper()
	return c.CreateCompany(t.Context(), testCompany(), func() error { return nil })
}

func TestCreateCompanySendsOnePost(t *testing.T) {
	t.Parallel()
	var sent []byte
	server := serve(t, func(w http.ResponseWriter, r *http.Request) {
		sent, _ = io.ReadAll(r.Body)
		fmt.Fprint(w, `{"data":{"success":true},"error":null}`)
	})
	if result := create(t, newClient(t, testConfig(server.URL))); result.Outcome != Created || result.Err != nil || result.Status != 200 {
		t.Fatalf("%+v", result)
	}
	const want = `{"create":[{"name":"Anastácia","email":"ana@example.com","password":"Canary\u0026\"p4ss","CNPJ":"11.222.333/0001-81",` +
		`"address":{"state":"SP"},"cellphone":"(11) 91234-5678"}]}`
	if string(sent) != want {
		t.Errorf("sent %s", sent)
	}
	r := server.seen()[0]
	if r.Method != "POST" || r.URL.Path != "/api/v2/company" || r.Header.Get("Content-Type") != "application/json" || r.Header.Get("Authorization") != "Bearer "+testToken {
		t.Errorf("%s %s with %v", r.Method, r.URL, r.Header)
	}
	if !r.Close || r.Header.Get("Idempotency-Key") != "" || r.Header.Get("X-Idempotency-Key") != "" {
		t.Error("the connection would be used again, or the transport might send the POST again")
	}
}

// TestCreateCompanyAnswers is the table of answers that platformtest does not give.
func TestCreateCompanyAnswers(t *testing.T) {
	t.Parallel()
	answer := func(status int, text string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			fmt.Fprint(w, text)
		}
	}
	const ok = `{"data":{"success":true},"error":null}`
	for name, c := range map[string]struct {
		step http.HandlerFunc
		want Outcome
	}{
		"201":                     {answer(201, ok), Created},
		"no error member":         {answer(200, `{"data":{"success":true}}`), Created},
		"more members":            {answer(200, ` {"id":7,"data":{"success":true,"ids":[1]},"error": null}`+"\n"), Created},
		"204":                     {answer(204, ""), Doubtful},
		"empty":                   {answer(200, ""), Doubtful},
		"HTML":                    {answer(200, "<html>welcome</html>"), Doubtful},
		"null":                    {answer(200, "null"), Doubtful},
		"an array":                {answer(200, "["+ok+"]"), Doubtful},
		"trailing bytes":          {answer(200, ok+" x"), Doubtful},
		"two documents":           {answer(200, ok+ok), Doubtful},
		"duplicate keys":          {answer(200, `{"data":{"success":true},"data":{"success":true},"error":null}`), Doubtful},
		"duplicate keys, inside":  {answer(200, `{"data":{"success":true,"success":true},"error":null}`), Doubtful},
		"invalid UTF-8":           {answer(200, "{\"data\":{\"success\":true,\"x\":\"\xff\"},\"error\":null}"), Doubtful},
		"success a text":          {answer(200, `{"data":{"success":"true"},"error":null}`), Doubtful},
		"success a number":        {answer(200, `{"data":{"success":1},"error":null}`), Doubtful},
		"success null":            {answer(200, `{"data":{"success":null},"error":null}`), Doubtful},
		"Success":                 {answer(200, `{"data":{"Success":true},"error":null}`), Doubtful},
		"success outside":         {answer(200, `{"success":true,"error":null}`), Doubtful},
		"data null":               {answer(200, `{"data":null,"error":null}`), Doubtful},
		"error without data":      {answer(200, `{"data":null,"error":"no"}`), Doubtful},
		"success and empty error": {answer(200, `{"data":{"success":true},"error":""}`), Doubtful},
		"failure without error":   {answer(200, `{"data":{"success":false},"error":null}`), Rejected},
		"failure":                 {answer(202, `{"data":{"success":false},"error":"no"}`), Rejected},
		"400 with success":        {answer(400, ok), Doubtful},
		"400":                     {answer(400, `{"data":null,"error":"no"}`), Rejected},
		"422 without error":       {answer(422, `{"data":{"success":false},"error":null}`), Rejected},
		"400 in HTML":             {answer(400, "<h1>no</h1>"), Doubtful},
		"401 in HTML":             {answer(401, "\n<!DOCTYPE html>"), Doubtful},
		"401 in words":            {answer(401, "Unauthorized"), Unauthorized},
		"403 in HTML":             {answer(403, "<html>blocked</html>"), Doubtful},
		"407":                     {answer(407, "<html>log in</html>"), Doubtful},
		"409 in HTML":             {answer(409, "<html>no</html>"), Doubtful},
		"429 in HTML":             {answer(429, "<html>slowly</html>"), Throttled},
		"400 in words":            {answer(400, "Bad Request"), Doubtful},
		"400 empty":               {answer(400, ""), Doubtful},
		"422 of another form":     {answer(422, `{"message":"no"}`), Doubtful},
		"409 saying nothing":      {answer(409, `{"data":null,"error":null}`), Doubtful},
		"409 cut":                 {wire("HTTP/1.1 409 Conflict\r\nContent-Length: 400\r\n\r\n{\"data\":{\"succ", false), Doubtful},
		"404":                     {answer(404, ok), Doubtful},
		"304":                     {answer(304, ""), Doubtful},
		"503":                     {answer(503, ok), Doubtful},
		"too long":                {answer(200, `{"data":{"success":true},"error":null,"x":"`+strings.Repeat("x", maxCompanyAnswer)+`"}`), Doubtful},
		"no HTTP":                 {wire("220 mail.example.com ESMTP\r\n", false), Doubtful},
		"headers cut":             {wire("HTTP/1.1 200 OK\r\nContent-Le", false), Doubtful},
		"gzip that is none":       {wire("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 4\r\n\r\nabcd", false), Doubtful},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := serve(t, c.step)
			result := create(t, newClient(t, testConfig(server.URL)))
			if result.Outcome != c.want || (result.Err == nil) != (c.want == Created) {
				t.Errorf("%s, %v; want %s", result.Outcome, result.Err, c.want)
			}
			if n := len(server.seen()); n != 1 {
				t.Errorf("%d requests", n)
			}
		})
	}
}

func TestCreateCompanyFollowsNoRedirect(t *testing.T) {
	t.Parallel()
	elsewhere := serve(t, body(`{"data":{"success":true},"error":null}`))
	for _, code := range []int{301, 302, 303, 307, 308} {
		server := serve(t, status(code, "Location", elsewhere.URL+"/api/v2/company"))
		if result := create(t, newClient(t, testConfig(server.URL))); result.Outcome != Doubtful || result.Status != code {
			t.Errorf("%d: %+v", code, result)
		}
	}
	if n := len(elsewhere.seen()); n != 0 {
		t.Errorf("%d requests went elsewhere", n)
	}
}

func TestNothingIsSent(t *testing.T) {
	t.Parallel()
	server := serve(t, body("{}"))
	refused := testConfig("http://127.0.0.1:1")
	untrusted := testConfig("https://" + strings.TrimPrefix(server.URL, "http://")) // speaks no TLS
	tokenless := testConfig(server.URL)
	tokenless.Token = func(context.Context) (string, error) { return "", errors.New("no file") }
	for name, c := range map[string]struct {
		cfg   Config
		begin error
		want  Outcome
	}{
		"connection refused": {refused, nil, Unsent},
		"no TLS":             {untrusted, nil, Unsent},
		"no token":           {tokenless, nil, Unauthorized},
		"begin refused":      {testConfig(server.URL), errors.New("disk full"), Unsent},
	} {
		began := false
		result := newClient(t, c.cfg).CreateCompany(t.Context(), testCompany(), func() error { began = true; return c.begin })
		if result.Outcome != c.want || result.Err == nil || c.begin != nil && !errors.Is(result.Err, c.begin) {
			t.Errorf("%s: %+v", name, result)
		}
		if began == (c.want == Unauthorized) {
			t.Errorf("%s: begun: %v", name, began)
		}
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	result := newClient(t, testConfig(server.URL)).CreateCompany(ended, testCompany(), func() error { t.Error("begun after the end"); return nil })
	if result.Outcome != Unsent || !errors.Is(result.Err, context.Canceled) {
		t.Errorf("%+v", result)
	}
	if n := len(server.seen()); n != 0 {
		t.Errorf("%d requests", n)
	}
}

func TestThrottledCompany(t *testing.T) {
	t.Parallel()
	for header, want := range map[string]time.Duration{"120": 2 * time.Minute, "": 0, "soon": 0} {
		server := serve(t, status(429, "Retry-After", header))
		cfg := testConfig(server.URL)
		cfg.MaxRetryWait = time.Millisecond
		if result := create(t, newClient(t, cfg)); result.Outcome != Throttled || result.Wait != want {
			t.Errorf("%q: %+v", header, result)
		}
	}
}

func TestRefusedTokenIsReadAgainForTheNextCall(t *testing.T) {
	t.Parallel()
	server := serve(t, status(401), body(`{"data":{"success":true},"error":null}`))
	cfg, asked := testConfig(server.URL), 0
	cfg.Token = func(context.Context) (string, error) { asked++; return fmt.Sprintf("token-%d", asked), nil }
	c := newClient(t, cfg)
	var auth *AuthError
	if result := create(t, c); result.Outcome != Unauthorized || !errors.As(result.Err, &auth) {
		t.Fatalf("%+v", result)
	}
	if result := create(t, c); result.Outcome != Created || server.seen()[1].Header.Get("Authorization") != "Bearer token-2" {
		t.Errorf("%+v", result)
	}
}

// TestPlatformThatRepeatsSecrets answers with everything it was sent, in every way of writing it, and nothing of it comes back.
func TestPlatformThatRepeatsSecrets(t *testing.T) {
	t.Parallel()
	company := testCompany()
	echo := func(status int) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			sent, _ := io.ReadAll(r.Body)
			said, _ := json.Marshal(strings.Join([]string{
				company.Password, strings.ToUpper(company.Password), url.QueryEscape(company.Password), string(sent), r.Header.Get("Authorization"),
				company.Name, company.Email, company.CNPJ, "11222333000181", company.Cellphone,
			}, " | "))
			w.WriteHeader(status)
			fmt.Fprintf(w, `{"data":{"success":false},"error":%s}`, said)
		}
	}
	steps := map[string]http.HandlerFunc{"no HTTP": wire("HTTP/1.1 "+company.Password+" "+testToken+"\r\n\r\n", false)}
	for _, status := range []int{200, 400, 401, 403, 404, 409, 422, 429, 500} {
		steps[fmt.Sprint(status)] = echo(status)
	}
	for name, step := range steps {
		log := newLogs()
		cfg := testConfig(serve(t, step).URL)
		cfg.Log = log.logger()
		result := create(t, newClient(t, cfg))
		text := strings.ToLower(fmt.Sprint(result.Err, result, log.String()))
		for _, secret := range []string{company.Password, testToken, company.Name, company.Email, company.CNPJ, "11222333000181", company.Cellphone, "p4ss", "canary&"} {
			if strings.Contains(text, strings.ToLower(secret)) {
				t.Errorf("%s: %q shows in %s", name, secret, text)
			}
		}
	}
	if text := fmt.Sprintf("%v %+v %#v %s", company, company, company, company); strings.Contains(text, "p4ss") {
		t.Errorf("a company prints as %s", text)
	}
}

func TestPostIsFinishedAfterTheSignal(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	server := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		cancel()
		fmt.Fprint(w, `{"data":{"success":true},"error":null}`)
	})
	result := newClient(t, testConfig(server.URL)).CreateCompany(ctx, testCompany(), func() error { return nil })
	if result.Outcome != Created {
		t.Errorf("%+v", result)
	}
}
