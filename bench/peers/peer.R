# R's learners with their default settings, in the protocol of protocol.go.
folds <- 10; batch <- 100000; singles <- 200; repeats <- 25

say <- function(part, seconds = NULL, bytes = NULL, rows = NULL, rules = NULL, tests = NULL, text = NULL) {
  list_of <- function(x) paste0("[", paste(format(x, digits = 9, scientific = TRUE, trim = TRUE), collapse = ","), "]")
  number <- function(x) format(x, digits = 15, scientific = FALSE, trim = TRUE)
  fields <- c(
    sprintf("\"part\":\"%s\"", part),
    if (!is.null(seconds)) sprintf("\"seconds\":%s", list_of(seconds)),
    if (!is.null(bytes)) sprintf("\"bytes\":%s", number(bytes)),
    if (!is.null(rows)) sprintf("\"rows\":%s", number(rows)),
    if (!is.null(rules)) sprintf("\"rules\":%s,\"tests\":%s", number(rules), number(tests)),
    if (!is.null(text)) sprintf("\"text\":\"%s\"", text))
  cat("{", paste(fields, collapse = ","), "}\n", sep = "")
  flush(stdout())
}

# load reads the table into a data frame x and a factor y.
load <- function(folder) {
  kinds <- strsplit(readLines(file.path(folder, "columns.txt")), " ")
  width <- sum(sapply(kinds, function(k) if (k[1] == "numeric") 8 else 4))
  path <- file.path(folder, "cells.bin")
  rows <- file.size(path) / width
  cells <- file(path, "rb")
  on.exit(close(cells))
  columns <- lapply(kinds, function(k) {
    if (k[1] == "numeric") {
      x <- readBin(cells, "double", rows)
      x[is.nan(x)] <- NA
      x
    } else {
      v <- readBin(cells, "integer", rows, size = 4) + 1L
      v[v < 1] <- NA
      structure(v, levels = paste0("v", seq_len(as.integer(k[2]))), class = "factor")
    }
  })
  names(columns) <- paste0("a", seq_along(columns))
  n <- length(columns)
  list(x = as.data.frame(columns[-n]), y = columns[[n]])
}

# fill puts the median or the most common value of the training rows into
# missing cells, for learners that do not take them.
fill_of <- function(x) lapply(x, function(c) if (is.factor(c)) levels(c)[which.max(table(c))] else median(c, na.rm = TRUE))
fill <- function(x, with) {
  for (i in seq_along(x)) if (anyNA(x[[i]])) x[[i]][is.na(x[[i]])] <- with[[i]]
  x
}

# whole gives every class a column.
whole <- function(p, levels) {
  out <- matrix(0, nrow(p), length(levels), dimnames = list(NULL, levels))
  out[, colnames(p)] <- p
  out
}

methods <- list(
  "rpart" = list(
    fit = function(x, y) rpart::rpart(y ~ ., data = cbind(x, y = y), method = "class"),
    proba = function(m, x, levels) whole(predict(m, x, type = "prob"), levels),
    reading = function(m) {
      leaf <- m$frame$var == "<leaf>"
      c(sum(leaf), sum(floor(log2(as.numeric(rownames(m$frame)[leaf])))))
    }),
  "naiveBayes" = list(
    fit = function(x, y) e1071::naiveBayes(x, y),
    proba = function(m, x, levels) whole(predict(m, x, type = "raw"), levels)),
  "nnet" = list(
    fit = function(x, y) {
      with <- fill_of(x)
      y <- droplevels(y)
      x <- fill(x, with)
      numeric <- sapply(x, is.numeric)
      mean <- sapply(x[numeric], mean); deviation <- pmax(sapply(x[numeric], sd), 1e-9)
      if (any(numeric)) x[numeric] <- scale(x[numeric], mean, deviation)
      m <- nnet::nnet(y ~ ., data = cbind(x, y = y), size = 10, decay = 0.01, trace = FALSE, MaxNWts = 100000)
      list(m = m, with = with, numeric = numeric, mean = mean, deviation = deviation, classes = levels(y))
    },
    proba = function(f, x, levels) {
      x <- fill(x, f$with)
      if (any(f$numeric)) x[f$numeric] <- scale(x[f$numeric], f$mean, f$deviation)
      p <- predict(f$m, x, type = "raw")
      if (ncol(p) == 1) p <- cbind(1 - p, p)
      colnames(p) <- f$classes
      whole(p, levels)
    }),
  "MclustDA" = list(
    numeric = TRUE,
    fit = function(x, y) {
      suppressMessages(library(mclust)) # it looks for its own functions by name
      with <- fill_of(x)
      y <- droplevels(y)
      # Its covariances can become singular, which it reports as an error.
      m <- tryCatch(MclustDA(as.matrix(fill(x, with)), y, verbose = FALSE), error = function(e) {
        say("reason", text = paste("it fails:", gsub("[\"\\\\\n]", "", conditionMessage(e))))
        quit()
      })
      list(m = m, with = with, classes = levels(y))
    },
    proba = function(f, x, levels) {
      p <- predict(f$m, as.matrix(fill(x, f$with)))$z
      p <- matrix(p, nrow(x))
      colnames(p) <- f$classes
      whole(p, levels)
    }),
  "C5.0" = list(
    fit = function(x, y) C50::C5.0(x, y),
    proba = function(m, x, levels) whole(predict(m, x, type = "prob"), levels)))

repeated <- function(budget, times, work) {
  seconds <- c(); result <- NULL
  while (length(seconds) == 0 || (sum(seconds) < budget && length(seconds) < times)) {
    began <- Sys.time()
    result <- work()
    seconds <- c(seconds, max(as.numeric(difftime(Sys.time(), began, units = "secs")), 1e-7))
  }
  list(seconds = seconds, result = result)
}

say_memory <- function() {
  if (!file.exists("/proc/self/status")) return()
  line <- grep("^VmHWM:", readLines("/proc/self/status"), value = TRUE)
  say("memory", bytes = 1024 * as.numeric(gsub("[^0-9]", "", line)))
}

arguments <- commandArgs(TRUE)
work <- arguments[1]; folder <- arguments[2]; method <- arguments[3]
keys <- list()
for (a in arguments[-(1:3)]) keys[[sub("=.*", "", a)]] <- sub("[^=]*=", "", a)
set.seed(1)

if (work == "version") {
  say("version", text = as.character(packageVersion(method)))
  quit()
}
if (work == "read") {
  r <- repeated(as.numeric(keys$budget), repeats, function() read.csv(folder, stringsAsFactors = TRUE))
  say("read", seconds = r$seconds, rows = nrow(r$result))
  say_memory()
  quit()
}
data <- load(folder)
m <- methods[[method]]
if (isTRUE(m$numeric) && !all(sapply(data$x, is.numeric))) {
  if (work == "speed") data$x <- data$x[sapply(data$x, is.numeric)]
  else {
    say("reason", text = "takes numeric columns only")
    quit()
  }
}
levels <- levels(data$y)
if (work == "speed") {
  budget <- as.numeric(keys$budget)
  say("loaded")
  r <- repeated(budget, repeats, function() m$fit(data$x, data$y))
  say("fit", seconds = r$seconds)
  fitted <- r$result
  say("size", bytes = length(serialize(fitted, NULL)))
  n <- min(batch, nrow(data$x))
  some <- data$x[seq_len(n), , drop = FALSE]
  say("predict", seconds = repeated(budget, repeats, function() m$proba(fitted, some, levels))$seconds, rows = n)
  one <- data$x[1, , drop = FALSE]
  say("single", seconds = repeated(budget, singles, function() m$proba(fitted, one, levels))$seconds, rows = 1)
  say_memory()
} else {
  fold <- readBin(file.path(folder, "folds.i32"), "integer", nrow(data$x), size = 4)
  p <- matrix(0, nrow(data$x), length(levels))
  readings <- c()
  for (k in 0:(folds - 1)) {
    fitted <- m$fit(data$x[fold != k, , drop = FALSE], data$y[fold != k])
    p[fold == k, ] <- m$proba(fitted, data$x[fold == k, , drop = FALSE], levels)
    if (!is.null(m$reading)) readings <- rbind(readings, m$reading(fitted))
  }
  writeBin(as.vector(t(p)), keys$out)
  if (is.null(readings)) say("folds") else say("folds", rules = mean(readings[, 1]), tests = mean(readings[, 2]))
}
