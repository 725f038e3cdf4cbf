class Accrete < Formula
  desc "Learning that people can read, correct and keep"
  homepage "https://github.com/accrete-ml/accrete"
  version "{{.Version}}"
  license "Apache-2.0"
{{range .Systems}}
  {{.Name}} do
{{- range .Archives}}
    {{.Name}} do
      url "https://github.com/accrete-ml/accrete/releases/download/v{{$.Version}}/{{.File}}"
      sha256 "{{.Sum}}"
    end
{{- end}}
  end
{{end}}
  def install
    bin.install "accrete"
    man1.install Dir["man1/*"]
    bash_completion.install "completions/accrete.bash" => "accrete"
    zsh_completion.install "completions/_accrete"
    fish_completion.install "completions/accrete.fish"
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/accrete version")
    system bin/"accrete", "learn", "iris", "--folds", "0", "--name", "tried"
  end
end
