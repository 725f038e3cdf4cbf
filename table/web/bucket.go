package web

import (
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/accrete-ml/accrete/table"
)

// account is who asks a bucket, and where, by the variables that AWS's own programs
// and those of its rivals read.
type account struct {
	key, secret, token string // no key: the bucket is public
	region             string
	endpoint           string // "" for AWS
}

func accountOf(variable func(name string) string) account {
	return account{
		key: variable("AWS_ACCESS_KEY_ID"), secret: variable("AWS_SECRET_ACCESS_KEY"), token: variable("AWS_SESSION_TOKEN"),
		region:   cmp.Or(variable("AWS_REGION"), variable("AWS_DEFAULT_REGION"), "us-east-1"),
		endpoint: cmp.Or(variable("AWS_ENDPOINT_URL_S3"), variable("AWS_ENDPOINT_URL")),
	}
}

// askBucket asks for s3://bucket/key.
func askBucket(ask *http.Request) (*http.Response, error) {
	return accountOf(os.Getenv).get(ask, ask.URL.Host, strings.TrimPrefix(ask.URL.Path, "/"), "")
}

// get asks for a file of a bucket, or with a query for something about it. Public
// ones need no signature; of others the server's refusal says what time it is
// there, which a signature has to say.
func (a account) get(ask *http.Request, bucket, key, query string) (*http.Response, error) {
	base, path := "https://"+bucket+".s3."+a.region+".amazonaws.com", "/"+key
	switch {
	case a.endpoint != "":
		base, path = strings.TrimSuffix(a.endpoint, "/"), "/"+bucket+"/"+key
	case strings.Contains(bucket, "."): // which no certificate covers
		base, path = "https://s3."+a.region+".amazonaws.com", "/"+bucket+"/"+key
	}
	to, err := url.Parse(base)
	if err != nil || to.Host == "" {
		return nil, errors.New("AWS_ENDPOINT_URL is no address of a server")
	}
	to.Path, to.RawPath, to.RawQuery = path, escaped(path), query
	ask.URL, ask.Host = to, to.Host
	answer, err := http.DefaultClient.Do(ask)
	if err != nil || a.key == "" || answer.StatusCode != http.StatusForbidden && answer.StatusCode != http.StatusUnauthorized {
		return answer, err
	}
	at, err := http.ParseTime(answer.Header.Get("Date"))
	if err != nil {
		return answer, nil // the refusal is the answer
	}
	answer.Body.Close()
	a.sign(ask, at)
	return http.DefaultClient.Do(ask)
}

// isMany reports whether an address stands for several files of a bucket: a
// pattern, or a folder, which ends in a slash.
func isMany(address *url.URL) bool {
	return address.Scheme == bucketScheme && (strings.ContainsAny(address.Path, "*[") || address.Path == "" || strings.HasSuffix(address.Path, "/"))
}

// openMany reads the files of a bucket that an address stands for as one table.
func openMany(ctx context.Context, address *url.URL, shown string, o table.Options) (table.Source, error) {
	keys, err := accountOf(os.Getenv).list(ctx, address.Host, strings.TrimPrefix(address.Path, "/"))
	if err != nil {
		return nil, plain(ctx, shown, err)
	}
	if len(keys) == 0 {
		return nil, fmt.Errorf("%s: there are no tables here; expected files such as .csv, .parquet or .jsonl", shown)
	}
	files := make([]string, len(keys))
	for i, key := range keys {
		files[i] = bucketScheme + "://" + address.Host + "/" + key
	}
	o.Name = shown
	return table.NewSourceOfFiles(ctx, files, func(ctx context.Context, file string) (io.ReadCloser, error) {
		ask, err := question(ctx, bucketScheme+"://"+address.Host)
		if err != nil {
			return nil, err
		}
		ask.URL.Path = strings.TrimPrefix(file, bucketScheme+"://"+address.Host) // keys are no addresses
		return body(ask, file)
	}, o)
}

// listing is a page of a bucket's list (ListObjectsV2).
type listing struct {
	Contents []struct{ Key string }
	Next     string `xml:"NextContinuationToken"`
}

// list returns the keys of a bucket that are below a folder, or that a pattern
// matches.
func (a account) list(ctx context.Context, bucket, pattern string) ([]string, error) {
	root, _, err := table.Pattern(pattern)
	if err != nil {
		return nil, err
	}
	var keys []string
	for next := ""; ; {
		query := "list-type=2&prefix=" + strings.ReplaceAll(escaped(root), "/", "%2F") // sorted, as signatures have it
		if next != "" {
			query = "continuation-token=" + strings.ReplaceAll(escaped(next), "/", "%2F") + "&" + query
		}
		ask, err := question(ctx, bucketScheme+"://"+bucket)
		if err != nil {
			return nil, err
		}
		answer, err := a.get(ask, bucket, "", query)
		if err != nil {
			return nil, err
		}
		var page listing
		if err = refusal(answer); err == nil {
			err = xml.NewDecoder(answer.Body).Decode(&page)
		}
		answer.Body.Close()
		if err != nil {
			return nil, err
		}
		for _, c := range page.Contents {
			keys = append(keys, c.Key)
		}
		if next = page.Next; next == "" {
			return table.Among(keys, pattern)
		}
	}
}

// sign adds a signature of version 4 to a request that has no body (AWS Signature
// Version 4: Authenticating Requests, Authorization Header).
func (a account) sign(ask *http.Request, at time.Time) {
	moment := at.UTC().Format("20060102T150405Z")
	scope := strings.Join([]string{moment[:8], a.region, "s3", "aws4_request"}, "/")
	empty := digest("")
	ask.Header.Set("X-Amz-Date", moment)
	ask.Header.Set("X-Amz-Content-Sha256", empty)
	signed := []string{"host", "x-amz-content-sha256", "x-amz-date"} // sorted
	if ask.Header.Get("Range") != "" {
		signed = []string{"host", "range", "x-amz-content-sha256", "x-amz-date"}
	}
	if a.token != "" {
		ask.Header.Set("X-Amz-Security-Token", a.token)
		signed = append(signed, "x-amz-security-token")
	}
	var canonical strings.Builder
	fmt.Fprintf(&canonical, "%s\n%s\n%s\n", ask.Method, ask.URL.EscapedPath(), ask.URL.RawQuery)
	for _, name := range signed {
		fmt.Fprintf(&canonical, "%s:%s\n", name, strings.TrimSpace(cmp.Or(ask.Header.Get(name), ask.Host)))
	}
	names := strings.Join(signed, ";")
	fmt.Fprintf(&canonical, "\n%s\n%s", names, empty)
	key := []byte("AWS4" + a.secret)
	for _, part := range strings.Split(scope, "/") {
		key = authenticated(key, part)
	}
	signature := authenticated(key, strings.Join([]string{"AWS4-HMAC-SHA256", moment, scope, digest(canonical.String())}, "\n"))
	ask.Header.Set("Authorization", fmt.Sprintf("AWS4-HMAC-SHA256 Credential=%s/%s,SignedHeaders=%s,Signature=%x", a.key, scope, names, signature))
}

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

func authenticated(key []byte, text string) []byte {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(text))
	return h.Sum(nil)
}

// escaped writes a path as signatures have it: every byte but letters, digits, some
// marks and slashes as a number.
func escaped(path string) string {
	var b strings.Builder
	for i := range len(path) {
		switch c := path[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', strings.IndexByte("-._~/", c) >= 0:
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}
