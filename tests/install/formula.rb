# ruby formula.rb FORMULA FOLDER   does with a formula what Homebrew would on x86-64, with the archives of FOLDER in place of its addresses
require "digest"
require "open3"
require "pathname"
require "tmpdir"

FORMULA, FOLDER = ARGV
PREFIX = Pathname(Dir.mktmpdir)
at_exit { PREFIX.rmtree }

class Pathname
  def install(*files)
    mkpath
    files.flatten.each do |file|
      File.exist?(file) or abort "#{file} is not in the archive"
      system("cp", "-r", file, to_s) or abort "cp #{file}"
    end
  end
end

class Formula
  class << self
    attr_reader :archives, :tests, :said
    def desc(text) = translation_of(:desc, text)
    def homepage(text) = translation_of(:homepage, text)
    def version(text) = translation_of(:version, text)
    def license(text) = translation_of(:license, text)
    def translation_of(name, text) = (@said ||= {})[name] = text
    def depends_on(what) = what == :linux || abort("depends on #{what}")
    def on_intel(&block) = block.call
    def on_arm(&block) = block.call
    def url(text) = (@archives ||= []) << { url: text }
    def sha256(text) = @archives.last[:sha256] = text
    def test(&block) = @tests = block
  end
  def version = self.class.said[:version]
  def bin = PREFIX / "bin"
  def man = PREFIX / "share/man"
  def man1 = man / "man1"
  def doc = PREFIX / "share/doc/jitwarm"
  def pkgshare = PREFIX / "share/jitwarm"
  def bash_completion = PREFIX / "etc/bash_completion.d"
  def zsh_completion = PREFIX / "share/zsh/site-functions"
  def fish_completion = PREFIX / "share/fish/vendor_completions.d"
  def shell_output(command) = Open3.capture2(command).first
  def assert_match(text, said) = said.include?(text) || abort("#{said} has no #{text}")
end

load FORMULA
Jitwarm.said[:desc].length <= 80 or abort "Homebrew wants a description of 80 characters at most"
Jitwarm.archives.length == 2 or abort "not two archives"
Jitwarm.archives.each do |one|
  file = File.join(FOLDER, File.basename(one[:url]))
  Digest::SHA256.file(file).hexdigest == one[:sha256] or abort "#{file} has another hash"
end
archive = File.join(FOLDER, File.basename(Jitwarm.archives.find { |one| one[:url].include?("x86_64") }[:url]))
Dir.mktmpdir do |folder|
  system("tar", "-xzf", archive, "-C", folder, "--strip-components=1") or abort archive
  Dir.chdir(folder) do
    formula = Jitwarm.new
    formula.install
    formula.instance_eval(&Jitwarm.tests)
  end
end
puts "formula: installed by a stand-in for Homebrew"
