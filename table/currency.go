package table

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"
)

// currencyNames are how currencies are called, each by names that mean the same:
// signs, codes of ISO 4217, and words. They stand before or after amounts.
var currencyNames = []string{
	"€ EUR Euro euro euros", "$ USD US$", "£ GBP", `¥ \ JPY JP¥ 円`, "CNY RMB CN¥ 元", "₹ INR Rs Rs.", "₩ KRW 원", "₽ RUB руб руб. р.",
	"₺ TRY TL", "₴ UAH грн грн.", "₪ ILS", "₫ VND", "฿ THB", "₦ NGN", "₱ PHP", "₸ KZT",
	"Fr. Fr CHF SFr SFr.", "kr kr.", "SEK", "NOK", "DKK", "ISK", "zł PLN", "Kč CZK", "Ft HUF", "lei RON", "лв лв. BGN", "din. RSD",
	"CAD C$ CA$", "AUD A$ AU$", "NZD NZ$", "HKD HK$", "SGD S$", "TWD NT$", "BRL R$", "MXN MX$", "ARS", "CLP", "COP", "PEN S/ S/.",
	"ZAR", "KES KSh", "EGP", "MAD", "AED", "SAR", "IDR Rp", "MYR RM", "PKR", "BDT", "LKR",
}

// currencies leads from each name of a currency to the first one.
var currencies = func() map[string]string {
	of := map[string]string{}
	for _, names := range currencyNames {
		list := strings.Fields(names)
		for _, name := range list {
			of[name] = list[0]
		}
	}
	return of
}()

// withoutCurrency takes the name of a currency off an amount, and returns the
// first of its names: what stands before or behind all digits and spaces.
func withoutCurrency(core []byte) (rest []byte, currency string) {
	from := bytes.IndexFunc(core, ofAmount)
	if from < 0 {
		return core, ""
	}
	if name, ok := currencyOf(core[:from]); ok {
		return core[from:], name
	}
	last := bytes.LastIndexFunc(core, ofAmount)
	_, size := utf8.DecodeRune(core[last:])
	if name, ok := currencyOf(core[last+size:]); ok {
		return core[:last+size], name
	}
	return core, ""
}

// currencyOf knows a currency by any of its names, and by its sign if it is one
// of Unicode's.
func currencyOf(name []byte) (string, bool) {
	if len(name) == 0 {
		return "", false
	}
	if of, ok := currencies[string(name)]; ok {
		return of, true
	}
	r, size := utf8.DecodeRune(name)
	return string(name), size == len(name) && unicode.Is(unicode.Sc, r)
}

// ofAmount reports whether a character belongs to the amount, not to the name of
// its currency.
func ofAmount(r rune) bool {
	return r-'0' <= 9 && r >= '0' || unicode.IsSpace(r) || strings.ContainsRune("()+-−–—", r)
}
