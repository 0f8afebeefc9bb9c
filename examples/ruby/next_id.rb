#!/usr/bin/env ruby
# frozen_string_literal: true

# IDs in Ruby, with the standard library.
require "json"
require "net/http"
require "socket"

module NextId
  SOCKET = ENV.fetch("NEXT_ID_SOCKET", "/run/next-id/next-id.sock")

  class Error < StandardError; end

  # Net::HTTP over a Unix socket instead of TCP.
  class Connection < Net::HTTP
    def connect
      @socket = Net::BufferedIO.new(UNIXSocket.new(SOCKET), read_timeout: 5)
    end
  end

  def self.take(count)
    response = Connection.start("localhost") { |http| http.get("/next-id?count=#{count}") }
    answer = JSON.parse(response.body)
    return answer["data"]["ids"] if response.code == "200"

    raise Error, "no ID from #{SOCKET}: #{response.code} #{answer["msg"]}: #{answer["error"]}"
  rescue SystemCallError, IOError, Timeout::Error, JSON::ParserError => e
    raise Error, "no ID from #{SOCKET}: #{e.message}"
  end

  def self.next
    take(1).first
  end
end

if $PROGRAM_NAME == __FILE__
  begin
    puts "id #{NextId.next}"
    puts "ids #{NextId.take(3).join(" ")}"
  rescue NextId::Error => e
    abort e.message
  end
end
